import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";

/** A server that cannot be had, or does not come up. The message says what was tried, and what to do. */
export class ServerError extends Error {
  override readonly name = "ServerError";
  readonly code = "SERVER_UNAVAILABLE";
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

/**
 * Waits for the end of its standard input, whose other end only we hold: the kernel closes it however we die, SIGKILL
 * included. Then it ends the process group, politely first, so that a database file is closed.
 */
const GUARDIAN = `
trap '' INT TERM HUP
read -r _
kill -s TERM -- "-$1" 2>/dev/null || exit 0
i=0
while [ "$i" -lt 50 ] && kill -s 0 -- "-$1" 2>/dev/null; do sleep 0.1; i=$((i + 1)); done
kill -s KILL -- "-$1" 2>/dev/null
`;

function startGuardian(group: number): ChildProcess {
  const guardian = spawn("/bin/sh", ["-c", GUARDIAN, "fiscalflow-guardian", String(group)], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  guardian.on("error", () => undefined);
  guardian.stdin?.on("error", () => undefined);
  guardian.unref();
  return guardian;
}

const LONGEST_OUTPUT = 20_000;

export interface GuardedChild {
  /** Undefined when it could not be started; `ended` then tells why. */
  readonly pid: number | undefined;
  /** The last 20,000 characters of both streams. */
  output(): string;
  /** Resolves when the process is gone; never rejects. The description fits into a sentence about the process. */
  readonly ended: Promise<{ readonly exitCode: number | null; readonly description: string }>;
  /** To the whole process group: a wrapper script's own children too. */
  signal(signal: NodeJS.Signals): void;
}

export interface SpawnOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** A user other than ours: only root can start a process for one. */
  readonly runAs?: RunAs | undefined;
  readonly onLine?: (line: string) => void;
}

export interface RunAs {
  readonly uid: number;
  readonly gid: number;
}

/**
 * Starts a child that does not outlive us, in a process group of its own, so that the terminal's Ctrl-C does not end it
 * before us. What our process does on a signal stays the business of its owner.
 */
export function spawnGuarded(command: string, args: readonly string[], options: SpawnOptions): GuardedChild {
  const { env, cwd, runAs, onLine } = options;
  const child = spawn(command, args, { env, cwd, detached: true, stdio: ["ignore", "pipe", "pipe"], ...runAs });
  const { pid } = child;
  const guardian = pid === undefined ? undefined : startGuardian(pid);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8");
    stream.on("data", (chunk: string) => (output = (output + chunk).slice(-LONGEST_OUTPUT)));
    if (onLine) createInterface(stream).on("line", onLine);
  }
  return {
    pid,
    output: () => output.trim(),
    ended: new Promise((resolve) => {
      const end = (exitCode: number | null, description: string): void => {
        guardian?.kill("SIGKILL");
        resolve({ exitCode, description });
      };
      child.once("error", (error) => end(null, `could not be started: ${error.message}`));
      child.once("close", (exitCode, signal) =>
        end(exitCode, signal === null ? `ended with exit code ${exitCode}` : `was ended by ${signal}`),
      );
    }),
    signal: (signal) => {
      try {
        if (pid !== undefined) process.kill(-pid, signal);
      } catch {
        // The group is already gone.
      }
    },
  };
}

export interface RunOptions extends SpawnOptions {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs a program to its end, or ends it and all that it started when the time is up or the signal is aborted.
 * @returns what it wrote
 * @throws Error that says how it ended, with its last lines
 */
export async function runCommand(command: string, args: readonly string[], options: RunOptions): Promise<string> {
  const { timeoutMs, signal } = options;
  const child = spawnGuarded(command, args, options);
  let stopped: string | undefined;
  const stop = (reason: string): void => {
    stopped = reason;
    child.signal("SIGKILL");
  };
  const timer = setTimeout(stop, timeoutMs, `was still running after ${timeoutMs / 1_000} s`);
  const onAbort = (): void => stop(messageOf(signal?.reason));
  signal?.addEventListener("abort", onAbort);
  if (signal?.aborted) onAbort();
  const { exitCode, description } = await child.ended;
  clearTimeout(timer);
  signal?.removeEventListener("abort", onAbort);
  if (exitCode === 0) return child.output();
  const last = child.output().split("\n").slice(-3);
  const said = last.map((line) => line.trim()).filter((line) => line !== "");
  throw new Error(`${stopped ?? description}${said.length > 0 ? `: ${said.join(" / ")}` : ""}`);
}

const LOOK_PAUSE_MS = 50;

/**
 * One deadline for several looks, each of which is repeated until it succeeds. A look throws a ServerError, which is
 * final, or what the last look said once the time is up or the signal is aborted.
 */
export function readyWithin(
  timeoutMs: number,
  signal?: AbortSignal,
): <Answer>(look: () => Promise<Answer>) => Promise<Answer> {
  const deadlineMs = performance.now() + timeoutMs;
  return async (look) => {
    for (;;) {
      try {
        return await look();
      } catch (error) {
        if (error instanceof ServerError) throw error;
        const isLate = performance.now() > deadlineMs;
        if (signal?.aborted || isLate) {
          const end = signal?.aborted ? messageOf(signal.reason) : `it was not ready after ${timeoutMs / 1_000} s`;
          throw new Error(`${end}; the last look at it said: ${messageOf(error)}`, { cause: error });
        }
        await delay(LOOK_PAUSE_MS);
      }
    }
  };
}
