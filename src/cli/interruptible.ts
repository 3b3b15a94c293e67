import { once } from "node:events";

import { InterruptedError } from "./cli-error.ts";

/** The work's result, or an {@link InterruptedError} as soon as the signal is aborted. */
export async function interruptible<Result>(work: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
  const interrupted = untilAborted(signal).then((): never => {
    throw new InterruptedError();
  });
  return await Promise.race(signal.aborted ? [interrupted] : [interrupted, work()]);
}

/** Resolves when the signal is aborted. */
async function untilAborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, "abort");
}

/**
 * One Ctrl-C may arrive twice: the terminal sends it to every process in the foreground, and npm passes its own on.
 * Nobody presses twice that fast.
 */
const SAME_WISH_MS = 500;

const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const;

/**
 * The first signal asks to finish what is under way; whoever asks again does not want to wait.
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

/** Does the work for each, so many at a time, in order; the results stand in the order of the tasks. */
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
