import type { CallClass } from "./call-class.ts";
import type { BudgetRules } from "./rules.ts";
import type { Window } from "./window.ts";

/** At the very end nothing is left unused: whoever comes then waits no longer than this part of a window. */
const FREE_AT_THE_END = 0.02;

/**
 * Requests of the window that a call of the class leaves to interactive work: what that is expected to need until the
 * window ends, and twice its standard deviation, since sales come at random.
 */
export function reserveFor(
  callClass: CallClass,
  { limit, window, rules }: { limit: number; window: Window; rules: BudgetRules },
  nowMs: number,
): number {
  if (callClass === "interactive") return 0;
  const leftMs = window.endsAtMs - nowMs - FREE_AT_THE_END * window.lengthMs;
  const part = Math.min(1, Math.max(0, leftMs / window.lengthMs));
  const expected = rules.interactiveShare * limit * part;
  return Math.min(Math.round(expected + 2 * Math.sqrt(expected)), Math.max(0, limit - 1));
}

/** When the reserve is small enough, in a window that ends at the latest then. */
export function whenReserveIs(
  most: number,
  of: { limit: number; window: Window; rules: BudgetRules },
  nowMs: number,
): number {
  let [early, late] = [nowMs, of.window.endsAtMs];
  while (late - early > 1) {
    const middle = (early + late) / 2;
    if (reserveFor("background", of, middle) <= most) late = middle;
    else early = middle;
  }
  return Math.ceil(late);
}
