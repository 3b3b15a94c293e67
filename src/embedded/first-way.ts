import { type FailedWay, NoTemporalServerError } from "./no-temporal-server-error.ts";

export type WayResult = { readonly path: string } | { readonly reason: string };

/** A way to an executable. */
export interface Way {
  readonly name: string;
  /** Asked for by name, so that when it fails the search ends instead of quietly taking something else. */
  readonly binding?: boolean;
  try(): Promise<WayResult>;
}

/**
 * The executable of the first way that works, tried one after the other. @throws NoTemporalServerError when none does;
 * the signal's reason
 */
export async function firstWay(
  what: string,
  ways: readonly Way[],
  whatToDo: string,
  signal?: AbortSignal,
): Promise<string> {
  const failed: FailedWay[] = [];
  for (const way of ways) {
    signal?.throwIfAborted();
    const result = await way.try();
    signal?.throwIfAborted();
    if ("path" in result) return result.path;
    failed.push({ way: way.name, reason: result.reason });
    if (way.binding) {
      const whatNow = `correct ${way.name}, or unset it to have the other ways tried.`;
      throw new NoTemporalServerError(what, failed, whatNow, true);
    }
  }
  throw new NoTemporalServerError(what, failed, whatToDo);
}
