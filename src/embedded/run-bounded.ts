import { setTimeout as delay } from "node:timers/promises";
import { type SpawnOptions, spawnGuarded } from "./spawn-guarded.ts";

export interface BoundedRun {
  readonly succeeded: boolean;
  /** Everything that is still held of what it wrote. */
  readonly output: string;
  /** Why it did not succeed, in words; empty when it did. */
  readonly problem: string;
}

export interface RunOptions extends SpawnOptions {
  readonly timeoutMs: number;
  /** Ends the run early, with the reason's message as its problem. */
  readonly signal?: AbortSignal | undefined;
}

/** Runs a program to its end, or ends it and all that it started when the time is up. Never rejects. */
export async function runBounded(command: string, args: readonly string[], options: RunOptions): Promise<BoundedRun> {
  const child = spawnGuarded(command, args, options);
  const timeUp = AbortSignal.timeout(options.timeoutMs);
  const stop = options.signal === undefined ? timeUp : AbortSignal.any([timeUp, options.signal]);
  let stopped: string | undefined;
  const onStop = (): void => {
    stopped = timeUp.aborted
      ? `was still running after ${options.timeoutMs / 1_000} s`
      : messageOf(options.signal?.reason);
    child.signal("SIGKILL");
  };
  stop.addEventListener("abort", onStop, { once: true });
  if (stop.aborted) onStop();
  // A grandchild that left the group can hold the pipes open for ever: the answer does not wait for it.
  const end = await Promise.race([child.ended, afterAbort(stop, 2_000)]);
  stop.removeEventListener("abort", onStop);
  const output = child.output.text();
  if (stopped === undefined && end?.exitCode === 0) return { succeeded: true, output, problem: "" };
  const problem = stopped ?? end?.description ?? "did not end";
  const said = child.output.summary();
  return { succeeded: false, output, problem: said === "" ? problem : `${problem}: ${said}` };
}

function messageOf(reason: unknown): string {
  return reason instanceof Error ? reason.message : "was stopped";
}

async function afterAbort(signal: AbortSignal, graceMs: number): Promise<undefined> {
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
  await delay(graceMs, undefined, { ref: false });
  return undefined;
}
