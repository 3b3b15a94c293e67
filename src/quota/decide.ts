import { companyFactor, mostAlone } from "./alone.ts";
import { type Budget, budgetAt, spentOf, underWay } from "./budget.ts";
import type { CallClass } from "./call-class.ts";
import { reserveFor, whenReserveIs } from "./reserve.ts";
import { probeAt } from "./trouble.ts";

export type WhyWait = "closed" | "probing" | "spent" | "reserved" | "narrow";

export type Decision =
  | { kind: "send"; probe: boolean }
  /** `untilMs` is absent where an answer to a call under way decides. */
  | { kind: "wait"; why: WhyWait; untilMs?: number };

export interface Asking {
  callClass: CallClass;
  /** Of a write that is sent at most once. */
  unrepeatable?: boolean;
  /** Calls of the class that are here already and wait. */
  behind?: number;
}

/** Whether a call of the class may be sent at that instant, and what it has to wait for. */
export function decide(
  before: Budget,
  { callClass, unrepeatable = false, behind = 0 }: Asking,
  nowMs: number,
): Decision {
  const budget = budgetAt(before, nowMs);
  const { limit, window, closedUntilMs, trouble, fleetSpent } = budget;
  if (nowMs < closedUntilMs) return { kind: "wait", why: "closed", untilMs: closedUntilMs };
  const probeAtMs = probeAt(trouble, unrepeatable);
  if (probeAtMs === undefined) return { kind: "wait", why: "probing" };
  if (nowMs < probeAtMs) return { kind: "wait", why: "probing", untilMs: probeAtMs };
  const left = limit - spentOf(budget) - behind;
  if (left <= 0) {
    // An answer may say that less is gone than was thought.
    const mayLearn = fleetSpent === undefined && underWay(budget) > 0 && budget.used + budget.silent < limit;
    return { kind: "wait", why: "spent", ...(!mayLearn && { untilMs: window.endsAtMs }) };
  }
  if (left <= reserveFor(callClass, budget, nowMs)) {
    return { kind: "wait", why: "reserved", untilMs: whenReserveIs(left - 1, budget, nowMs) };
  }
  if (nowMs < budget.askAgainAtMs) return { kind: "wait", why: "narrow", untilMs: budget.askAgainAtMs };
  const most = mostAtOnce(budget);
  if (most === 0) return { kind: "wait", why: "spent", untilMs: window.endsAtMs };
  if (underWay(budget) >= most) return { kind: "wait", why: "narrow" };
  return { kind: "send", probe: trouble.probing !== undefined };
}

function mostAtOnce(budget: Budget): number {
  const { rules, limit, window, used, silent, company, fleetSpent } = budget;
  if (!window.fromHeaders) return rules.unknownConcurrency;
  if (fleetSpent !== undefined) return Infinity;
  return mostAlone(limit - used - silent, companyFactor(company, used), limit);
}
