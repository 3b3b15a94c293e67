import { type ChildProcess, spawn } from "node:child_process";
import { Socket } from "node:net";
import { OutputRing } from "./output-ring.ts";

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

const live = new Set<GuardedChild>();
let exitHandlerSet = false;

export interface GuardedChild {
  /** Undefined when it could not be started; `ended` then tells why. */
  readonly pid: number | undefined;
  readonly output: OutputRing;
  /** Resolves when the process is gone; never rejects. */
  readonly ended: Promise<ChildEnd>;
  /** To the whole process group: a wrapper script's own children too. */
  signal(signal: NodeJS.Signals): void;
  /** From now on it does not hold our event loop open. */
  unref(): void;
}

/** How a child ended, in words that fit into a sentence about it. */
interface ChildEnd {
  readonly exitCode: number | null;
  readonly description: string;
}

export interface SpawnOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd?: string;
  readonly onLine?: (line: string) => void;
  /** All that it writes, as it comes: lines are cut at a length. */
  readonly onOutput?: (chunk: string) => void;
}

/**
 * Starts a child in a process group of its own, so that the terminal's Ctrl-C does not end it before us, and sees to it
 * that it does not outlive us: by a guardian process (POSIX), and by an exit handler. No signal handler is installed:
 * what our process does on a signal stays the business of its owner.
 */
export function spawnGuarded(command: string, args: readonly string[], options: SpawnOptions): GuardedChild {
  const child = spawn(command, args, {
    env: options.env,
    cwd: options.cwd,
    detached: process.platform !== "win32",
    windowsHide: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const guardian = child.pid === undefined ? undefined : startGuardian(child.pid);
  const output = new OutputRing(options.onLine);
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8");
    stream.on("data", (chunk: string) => {
      output.push(chunk);
      options.onOutput?.(chunk);
    });
  }
  const ended = new Promise<ChildEnd>((resolve) => {
    child.once("error", (error) => resolve({ exitCode: null, description: `could not be started: ${error.message}` }));
    child.once("close", (exitCode, signal) =>
      resolve({
        exitCode,
        description: signal === null ? `ended with exit code ${exitCode}` : `was ended by ${signal}`,
      }),
    );
  });
  const guarded: GuardedChild = {
    pid: child.pid,
    output,
    ended,
    signal: (signal) => signalGroup(child, signal),
    unref: () => {
      child.unref();
      for (const stream of [child.stdout, child.stderr]) if (stream instanceof Socket) stream.unref();
    },
  };
  live.add(guarded);
  void ended.then(() => {
    live.delete(guarded);
    guardian?.kill("SIGKILL");
  });
  endAllOnExit();
  return guarded;
}

function startGuardian(pid: number): ChildProcess | undefined {
  if (process.platform === "win32") return undefined;
  const guardian = spawn("/bin/sh", ["-c", GUARDIAN, "fiscalflow-guardian", String(pid)], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  // Without a shell only SIGKILL and uncaught signals go unguarded; that is no reason to refuse the start.
  guardian.on("error", () => undefined);
  guardian.stdin?.on("error", () => undefined);
  guardian.unref();
  return guardian;
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    if (process.platform === "win32") child.kill(signal);
    else process.kill(-child.pid, signal);
  } catch {
    // The group is already gone.
  }
}

function endAllOnExit(): void {
  if (exitHandlerSet) return;
  exitHandlerSet = true;
  process.on("exit", () => {
    for (const child of live) child.signal("SIGTERM");
  });
}
