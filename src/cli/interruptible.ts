import { InterruptedError } from "./cli-error.ts";

/** The work's result, or an {@link InterruptedError} as soon as the signal is aborted. */
export async function interruptible<Result>(work: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
  if (signal.aborted) throw new InterruptedError();
  let onAbort = (): void => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    onAbort = () => reject(new InterruptedError());
    signal.addEventListener("abort", onAbort, { once: true });
  });
  const working = work();
  // Whoever was interrupted waits no longer for what becomes of it.
  working.catch(() => undefined);
  try {
    return await Promise.race([working, aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** Resolves when the signal is aborted. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
