import { isCalendarDate, nairobiDate } from "../../contract/index.ts";
import type { Days, Period } from "../../ledger/index.ts";
import { UsageError } from "../cli-error.ts";

/** Why the figures of the period are not all there yet; undefined where it is over. */
export function standingOf(
  { kind, from, to }: Days & { kind: Period["kind"] | "period" },
  nowMs: number,
): string | undefined {
  const today = nairobiDate(nowMs);
  if (today < from) return `The ${kind} has not begun.`;
  return today > to ? undefined : `The ${kind} is not over: its figures are not final.`;
}

/** A day, or a month, of Africa/Nairobi. @throws UsageError */
export function periodOf(kind: Period["kind"], date: string | undefined, nowMs: number): Period {
  const given = date ?? nairobiDate(nowMs);
  if (kind === "day") {
    if (isCalendarDate(given)) return { kind, from: given, to: given };
    throw new UsageError(`Expected --date as a day that exists, written YYYY-MM-DD; found "${given}".`);
  }
  const first = `${given.slice(0, 7)}-01`;
  if (!isCalendarDate(first) || (given.length !== 7 && !isCalendarDate(given)))
    throw new UsageError(`Expected --date as a month written YYYY-MM, or a day in it; found "${given}".`);
  const [year, month] = [Number(first.slice(0, 4)), Number(first.slice(5, 7))];
  const last = new Date(Date.UTC(year, month, 0)).toISOString().slice(0, 10);
  return { kind, from: first, to: last };
}
