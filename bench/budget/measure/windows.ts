import type { Books, CallEntry } from "../../../src/dev/simulator/index.ts";
import { type Reader, readDocumentId } from "../documents.ts";

/** What became of the calls of one application in one of the provider's windows. */
export interface CountedWindow {
  readonly startMs: number;
  /** Admitted, by who made them. */
  readonly interactive: number;
  readonly background: number;
  readonly stranger: number;
  /** 429s of those who work on the lane. */
  readonly refused: number;
  readonly strangerRefused: number;
}

type Window = Books["windows"][number];

/**
 * Puts each call into its window. The log knows when a call arrived, and the window is taken a latency later: but calls
 * are looked at in the order of their arrival, so the windows' own counts say where one ends and the next begins.
 * @param calls all calls of the log, since before the application's first one
 */
export function countWindows(lane: string, calls: readonly CallEntry[], windows: readonly Window[]): CountedWindow[] {
  const own = calls.flatMap((call) => {
    const id = call.saleId === null ? undefined : readDocumentId(call.saleId);
    return id?.lane === lane ? [{ reader: id.reader, refused: call.status === 429 }] : [];
  });
  let next = 0;
  return windows
    .filter(({ application }) => application === lane)
    .map(({ startMs, used, refused }) => {
      const theirs = own.slice(next, next + used + refused);
      next += used + refused;
      const count = (wanted: boolean, ...readers: Reader[]): number =>
        theirs.filter((call) => call.refused === wanted && readers.includes(call.reader)).length;
      return {
        startMs,
        interactive: count(false, "interactive"),
        background: count(false, "background"),
        stranger: count(false, "stranger"),
        refused: count(true, "interactive", "background"),
        strangerRefused: count(true, "stranger"),
      };
    });
}
