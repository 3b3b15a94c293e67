import { once } from "node:events";
import type { Readable, Writable } from "node:stream";

import { plainText } from "../contract/plain-text.ts";

interface OutputStream extends Pick<Writable, "write"> {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
}

export interface CliContext {
  readonly env: NodeJS.ProcessEnv;
  readonly stdin: Readable & { readonly isTTY?: boolean | undefined };
  /** Results, and nothing else. */
  readonly stdout: OutputStream;
  /** Everything else: progress, logs, errors. */
  readonly stderr: OutputStream;
  /** Aborted by Ctrl-C and SIGTERM: end what was started, and return. */
  readonly signal: AbortSignal;
}

/** The call was wrong: exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  readonly code = "USAGE";
}

/** The work failed: exit code 1. An empty message: the result says it already. */
export class CommandFailedError extends Error {
  override readonly name = "CommandFailedError";
  readonly code = "COMMAND_FAILED";
}

/** Ctrl-C or SIGTERM came while something else was waited for. */
export class InterruptedError extends Error {
  override readonly name = "InterruptedError";
  readonly code = "INTERRUPTED";
  readonly exitCode: number;

  constructor(exitCode = 130) {
    super("Interrupted. What Temporal has accepted goes on.");
    this.exitCode = exitCode;
  }
}

/**
 * Errors by which somebody says that the call or the configuration was wrong. By name, so that nothing is loaded to
 * compare with.
 */
const CALLERS_FAULT = new Set([
  "UsageError",
  "ConfigError",
  "InvalidInputError",
  "UnknownConnectionError",
  "UnknownBusinessError",
  "CallInputError",
]);

interface Described {
  exitCode: 1 | 2;
  /** Empty where there is nothing more to say. */
  message: string;
}

export function describeError(error: unknown): Described {
  if (!(error instanceof Error)) return { exitCode: 1, message: plainText(String(error)) };
  const message = error.name === "CommandFailedError" ? error.message : messageOf(error);
  return { exitCode: CALLERS_FAULT.has(error.name) ? 2 : 1, message: plainText(message) };
}

/** The client's own ServiceError hides its reason in the cause, as gRPC's `details`. */
function messageOf(error: Error): string {
  const details = grpcDetails(error) ?? (error.name === "ServiceError" ? grpcDetails(error.cause) : undefined);
  if (details !== undefined) return `Temporal refuses: ${details}`;
  return error.message === "" ? error.name : error.message;
}

function grpcDetails(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("details" in error) || !("code" in error)) return undefined;
  return typeof error.details === "string" && typeof error.code === "number" ? error.details : undefined;
}

/** The work's result, or an {@link InterruptedError} as soon as the signal is aborted. */
export async function interruptible<Result>(work: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
  if (signal.aborted) throw new InterruptedError();
  const interrupted = once(signal, "abort").then((): never => {
    throw new InterruptedError();
  });
  return await Promise.race([interrupted, work()]);
}

/**
 * One Ctrl-C may arrive twice: the terminal sends it to every process in the foreground, and npm passes its own on.
 * Nobody presses twice that fast.
 */
const SAME_WISH_MS = 500;

const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const;

/**
 * The first signal asks to finish what is under way; a second one, not to wait.
 * @param exit ends the process at once
 */
export function stopOnSignals(
  exit: (exitCode: number) => void,
  nowMs: () => number,
): { signal: AbortSignal; receive: (name: keyof typeof EXIT_CODES) => void } {
  const stop = new AbortController();
  let firstAtMs = 0;
  const receive = (name: keyof typeof EXIT_CODES): void => {
    if (!stop.signal.aborted) {
      firstAtMs = nowMs();
      stop.abort(new InterruptedError(EXIT_CODES[name]));
    } else if (nowMs() - firstAtMs >= SAME_WISH_MS) exit(EXIT_CODES[name]);
  };
  return { signal: stop.signal, receive };
}

/** The results stand in the order of the tasks. */
export async function inParallel<Task, Result>(
  tasks: readonly Task[],
  concurrency: number,
  work: (task: Task, index: number) => Promise<Result>,
  signal?: AbortSignal,
): Promise<Result[]> {
  const results: Result[] = [];
  const pending = tasks.entries();
  const lane = async (): Promise<void> => {
    for (const [index, task] of pending) {
      if (signal?.aborted === true) return;
      results[index] = await work(task, index);
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, tasks.length) }, lane));
  return results;
}
