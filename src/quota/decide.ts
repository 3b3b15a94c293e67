import { saysAway } from "../http/errors.ts";
import type { RateLimit } from "../http/quota-headers.ts";
import type { QuotaWindow, SettledEdge } from "../ledger/index.ts";
import {
  afterFailure,
  type Budget,
  budgetAt,
  type BudgetRules,
  type CallClass,
  inFreshWindow,
  NO_TROUBLE,
  probeAt,
  probeBack,
  probeSent,
  readEdge,
  refusedTooEarly,
  reserveFor,
  spentOf,
  startOf,
  underWay,
  whenReserveIs,
  type Window,
} from "./budget.ts";
import type { FleetSettlement } from "./fleet-count.ts";

/** What an answer tells the fleet's count, by what was known before it. */
export function fleetSettlement(
  answer: Answer,
  { window: known, rules }: Pick<Budget, "window" | "rules">,
  nowMs: number,
): FleetSettlement {
  const { status, sentAtMs, answeredAtMs } = answer;
  const later = status === 429 ? refusedTooEarly(known, sentAtMs, waitOf(answer)) : undefined;
  if (later) return { edge: edgeOf("is", later, nowMs) };
  const rateLimit = rateLimitOf(answer, rules);
  if (!rateLimit) return {};
  const { limit, remaining, resetSeconds } = rateLimit;
  const { says, window } = readEdge(known, { sentAtMs, answeredAtMs, resetSeconds });
  if (says === "unclear") return {};
  const counted = { used: limit - Math.min(remaining, limit), limit };
  return says === "same" ? { counted } : { counted, edge: edgeOf(says, window, nowMs) };
}

function edgeOf(says: SettledEdge["says"], { endsAtMs, lengthMs }: Window, nowMs: number): SettledEdge {
  return { says, endsInMs: endsAtMs - nowMs, lengthMs };
}

/** A call that was let through. */
export interface Sending {
  callClass: CallClass;
  probe: boolean;
}

export interface Answer {
  status: number;
  sentAtMs: number;
  answeredAtMs: number;
  rateLimit?: RateLimit | undefined;
  retryAfterSeconds?: number | undefined;
}

export type BudgetEvent =
  | { kind: "sent"; call: Sending }
  /** It was not sent after all: the fleet's count allowed no more. */
  | { kind: "unsent"; call: Sending }
  /** That was not for want of requests, but because of what others have under way. */
  | { kind: "narrowed"; againAtMs: number }
  | { kind: "answered"; call: Sending; answer: Answer }
  /** No answer came. `failed` is false where that says nothing of the service; `arrived`, where not a byte has left. */
  | { kind: "lost"; call: Sending; failed: boolean; arrived: boolean }
  | { kind: "counted"; window: QuotaWindow }
  | { kind: "count-away" };

/** What a 429 without any word of a time is taken for (docs/budget.md, "What happens to a call"). */
const CLOSED_WITHOUT_WORD_MS = 60_000;

/** How long a 429 asks to wait: Retry-After, else its reset; at least a second, since a reset may be rounded down. */
export function waitOf({ retryAfterSeconds, rateLimit }: Answer): number {
  const seconds = retryAfterSeconds ?? rateLimit?.resetSeconds;
  return seconds === undefined ? CLOSED_WITHOUT_WORD_MS : Math.max(1, seconds) * 1_000;
}

export function afterEvent(before: Budget, event: BudgetEvent, nowMs: number): Budget {
  const budget = budgetAt(before, nowMs);
  switch (event.kind) {
    case "sent": {
      const trouble = event.call.probe ? probeSent(budget.trouble) : budget.trouble;
      return { ...withInFlight(budget, event.call, 1), trouble };
    }
    case "unsent": {
      const trouble = event.call.probe ? probeBack(budget.trouble) : budget.trouble;
      return { ...withInFlight(budget, event.call, -1), trouble };
    }
    case "narrowed":
      return { ...budget, askAgainAtMs: event.againAtMs };
    case "lost": {
      const back = ended(budget, event.call);
      const spent = event.arrived ? { ...back, silent: back.silent + 1, silentSentAtMs: nowMs } : back;
      if (event.failed)
        return { ...spent, trouble: afterFailure(budget.trouble, event.call.probe, budget.rules, nowMs) };
      return event.call.probe ? { ...spent, trouble: probeBack(budget.trouble) } : spent;
    }
    case "answered":
      return afterAnswer(ended(budget, event.call), event.call, event.answer, nowMs);
    case "counted":
      return afterCount(budget, event.window, nowMs);
    case "count-away":
      return { ...budget, fleetSpent: undefined };
  }
}

/** One that has ended may let another one in. */
function ended(budget: Budget, call: Sending): Budget {
  return { ...withInFlight(budget, call, -1), askAgainAtMs: 0 };
}

function withInFlight(budget: Budget, { callClass }: Sending, change: 1 | -1): Budget {
  const inFlight = { ...budget.inFlight, [callClass]: Math.max(0, budget.inFlight[callClass] + change) };
  return { ...budget, inFlight };
}

function afterAnswer(budget: Budget, call: Sending, answer: Answer, nowMs: number): Budget {
  const trouble = saysAway(answer.status) ? afterFailure(budget.trouble, call.probe, budget.rules, nowMs) : NO_TROUBLE;
  const counted = withCount({ ...budget, trouble }, answer);
  if (answer.status === 429) return closedBy(counted, budget, answer);
  // A service that says when it is back needs no probes until then.
  return answer.status === 503 && answer.retryAfterSeconds !== undefined ? closed(counted, answer) : counted;
}

/**
 * What an answer tells of the window. A 429 that is to be tried again before its window ends speaks of something else,
 * a limit for bursts for example, whatever its headers say of what is left.
 */
function rateLimitOf(
  { status, rateLimit, retryAfterSeconds }: Answer,
  { longestClosedMs }: BudgetRules,
): RateLimit | undefined {
  // A limit of nothing would be for ever, and a window of a day would stop every till for that day.
  if (!rateLimit || rateLimit.limit < 1 || rateLimit.resetSeconds * 1_000 > longestClosedMs) return undefined;
  const earlier = retryAfterSeconds !== undefined && retryAfterSeconds + 1 < rateLimit.resetSeconds;
  return status === 429 && earlier ? undefined : rateLimit;
}

function withCount(budget: Budget, answer: Answer): Budget {
  const { sentAtMs, answeredAtMs } = answer;
  const rateLimit = rateLimitOf(answer, budget.rules);
  if (!rateLimit) {
    if (sentAtMs < startOf(budget.window)) return budget;
    return { ...budget, silent: budget.silent + 1, silentSentAtMs: Math.max(budget.silentSentAtMs, sentAtMs) };
  }
  const { limit, remaining, resetSeconds } = rateLimit;
  const news = readEdge(budget.window, { sentAtMs, answeredAtMs, resetSeconds });
  if (news.says === "unclear") return budget;
  const current = news.says === "next" ? inFreshWindow(budget, news.window) : { ...budget, window: news.window };
  const used = Math.max(current.used, limit - Math.min(remaining, limit));
  const silent = sentAtMs > current.silentSentAtMs ? 0 : current.silent;
  return { ...current, limit, used, silent };
}

function closedBy(budget: Budget, before: Budget, answer: Answer): Budget {
  const window = refusedTooEarly(before.window, answer.sentAtMs, waitOf(answer)) ?? budget.window;
  return closed({ ...budget, window }, answer);
}

function closed(budget: Budget, answer: Answer): Budget {
  const untilMs = answer.answeredAtMs + Math.min(waitOf(answer), budget.rules.longestClosedMs);
  return { ...budget, closedUntilMs: Math.max(budget.closedUntilMs, untilMs) };
}

function afterCount(budget: Budget, counted: QuotaWindow, nowMs: number): Budget {
  const { endsInMs, lengthMs, fromHeaders, limit, spent } = counted;
  if (endsInMs <= 0) return budget;
  // A guess of the fleet is no better than the headers that this process has seen.
  if (!fromHeaders && budget.window.fromHeaders) return { ...budget, fleetSpent: spent };
  const window = { ...budget.window, endsAtMs: nowMs + endsInMs, lengthMs, fromHeaders };
  const another = Math.abs(window.endsAtMs - budget.window.endsAtMs) > lengthMs / 2;
  const placed = another ? inFreshWindow(budget, window) : { ...budget, window };
  return { ...placed, limit: fromHeaders ? limit : budget.limit, fleetSpent: spent };
}

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

/** Of a window, while this process counts alone: as many calls of others may be under way. */
const UNUSED_ALONE = 0.05;

function mostAtOnce({ rules, limit, window, used, silent, fleetSpent }: Budget): number {
  if (!window.fromHeaders) return rules.unknownConcurrency;
  if (fleetSpent !== undefined) return Infinity;
  return limit - used - silent > UNUSED_ALONE * limit ? 1 : 0;
}
