import { AsyncLocalStorage } from "node:async_hooks";

import { LONGEST_QUOTA_PAUSE_MS } from "../http/quota-headers.ts";

/** Sales and credit notes go before registration batches, polls and syncs. */
export type CallClass = "interactive" | "background";

const current = new AsyncLocalStorage<CallClass>();

/** Whatever `work` sends is of that class. */
export function callingAs<Result>(callClass: CallClass, work: () => Result): Result {
  return current.run(callClass, work);
}

/** The default: a caller waits for the call. */
export function currentClass(): CallClass {
  return current.getStore() ?? "interactive";
}

/** What the budget of one application goes by. */
export interface BudgetRules {
  /** Requests in a window, until headers say how many. */
  fallbackLimit: number;
  /** Of a window, until headers say otherwise (Fiscal Compliance API, "Limits": one-minute windows). Milliseconds. */
  lengthMs: number;
  /** Calls under way at once in this process while no answer has shown a limit. */
  unknownConcurrency: number;
  /** Of the limit: what interactive work is expected to need at most, and background work leaves to it. */
  interactiveShare: number;
  /** Calls that fail one after the other before they are made one at a time. */
  failuresBeforeProbing: number;
  /** Between two calls of a service that fails: the first pause, which doubles up to the longest. Milliseconds. */
  firstPauseMs: number;
  longestPauseMs: number;
  /** A Retry-After or a reset beyond it is not believed. Milliseconds. */
  longestClosedMs: number;
}

export function budgetRules(fallbackLimit: number, firstPauseMs = 1_000): BudgetRules {
  return {
    fallbackLimit,
    lengthMs: 60_000,
    unknownConcurrency: 4,
    interactiveShare: 0.2,
    failuresBeforeProbing: 5,
    firstPauseMs,
    longestPauseMs: 30 * firstPauseMs,
    longestClosedMs: LONGEST_QUOTA_PAUSE_MS,
  };
}

/** The provider's window, as far as it is known, by the clock of this process. */
export interface Window {
  /** No earlier than its true end, by up to a second: resets are given in whole seconds. */
  endsAtMs: number;
  lengthMs: number;
  /** Whether headers said so; else it is a guess. */
  fromHeaders: boolean;
  /**
   * 1,000 with a provider that rounds its resets down: it was found out by being refused at a window's very beginning.
   */
  slackMs: number;
}

interface ResetFromHeaders {
  sentAtMs: number;
  answeredAtMs: number;
  resetSeconds: number;
}

/**
 * Which window an answer speaks of, and what it says of its end.
 *
 * - `same`: of the one that is known, and nothing new; `earlier`: it ends earlier than thought
 * - `is`: the first that is known; `next`: a later window has begun
 * - `unclear`: perhaps of the one before, so nothing in it counts
 */
interface EdgeNews {
  says: "same" | "earlier" | "is" | "next" | "unclear";
  window: Window;
}

/** Windows are known to whole seconds. */
const SECOND = 1_000;
/** Within this, two ends are the same. */
const TOLERANCE_MS = 250;
/** More than rounding explains: then the length of the window is another. */
const BEYOND_ROUNDING_MS = 1_500;

/** An application of which nothing is known: windows of whole minutes, as most clocks cut them. */
export function guessedWindow(lengthMs: number, nowMs: number): Window {
  return { endsAtMs: (Math.floor(nowMs / lengthMs) + 1) * lengthMs, lengthMs, fromHeaders: false, slackMs: 0 };
}

/** The window of that instant, in the known phase. A clock that was set back by much makes the end a guess again. */
function windowAt(window: Window, nowMs: number): Window {
  const { endsAtMs, lengthMs } = window;
  if (nowMs < endsAtMs - 2 * lengthMs) return { ...guessedWindow(lengthMs, nowMs), slackMs: window.slackMs };
  if (nowMs < endsAtMs) return window;
  const passed = Math.floor((nowMs - endsAtMs) / lengthMs) + 1;
  return { ...window, endsAtMs: endsAtMs + passed * lengthMs };
}

export function startOf({ endsAtMs, lengthMs }: Window): number {
  return endsAtMs - lengthMs;
}

/**
 * The answer's window ends between a second less than its reset after the request left, and its reset after the answer
 * came. Taken together over answers that bound comes down to a few milliseconds.
 */
export function readEdge(window: Window, { sentAtMs, answeredAtMs, resetSeconds }: ResetFromHeaders): EdgeNews {
  const resetMs = resetSeconds * SECOND;
  const latestMs = answeredAtMs + resetMs + window.slackMs;
  const earliestMs = sentAtMs + resetMs - SECOND;
  const lengthMs = Math.max(window.lengthMs, resetMs);
  if (!window.fromHeaders)
    return { says: "is", window: { ...window, endsAtMs: latestMs, lengthMs, fromHeaders: true } };
  if (earliestMs > window.endsAtMs + TOLERANCE_MS)
    return { says: "next", window: nextWindow(window, latestMs, resetMs) };
  if (earliestMs <= startOf(window) + TOLERANCE_MS) return { says: "unclear", window };
  if (latestMs >= window.endsAtMs - 1) return { says: "same", window };
  const byMs = window.endsAtMs - latestMs;
  const shorter = byMs > BEYOND_ROUNDING_MS ? wholeSeconds(latestMs - startOf(window)) : window.lengthMs;
  return { says: "earlier", window: { ...window, endsAtMs: latestMs, lengthMs: Math.max(shorter, resetMs) } };
}

/** A refusal this soon after a window's beginning means that it has not begun for the provider. */
const AT_THE_BEGINNING_MS = 2_500;

/**
 * The window after a 429 that shows it to begin later than thought: the provider rounds its resets down. Undefined
 * where it shows nothing of the kind.
 * @param waitMs what the 429 asks to wait
 */
export function refusedTooEarly(window: Window, sentAtMs: number, waitMs: number): Window | undefined {
  const sinceStartMs = sentAtMs - startOf(window);
  const early = window.fromHeaders && sinceStartMs >= 0 && sinceStartMs < AT_THE_BEGINNING_MS && waitMs <= SECOND;
  if (!early || window.slackMs > 0) return undefined;
  return { ...window, endsAtMs: window.endsAtMs + SECOND, slackMs: SECOND };
}

function nextWindow(window: Window, endsAtMs: number, resetMs: number): Window {
  const apartMs = wholeSeconds(endsAtMs - window.endsAtMs);
  const lengthMs = Math.max(Math.min(window.lengthMs, apartMs), resetMs);
  return { ...window, endsAtMs, lengthMs };
}

function wholeSeconds(ms: number): number {
  return Math.max(1, Math.round(ms / SECOND)) * SECOND;
}

/**
 * Whether the service answers at all.
 *
 * - calls that fail are counted, until one is answered
 * - too many: probing. One call at a time, after growing pauses
 * - any answer: everything is open again
 */
export interface Trouble {
  failures: number;
  probing?: { pauseMs: number; nextAtMs: number; out: boolean };
}

export const NO_TROUBLE: Trouble = { failures: 0 };

export function afterFailure(trouble: Trouble, probe: boolean, rules: BudgetRules, nowMs: number): Trouble {
  const failures = trouble.failures + 1;
  const { probing } = trouble;
  if (probing && !probe) return { failures, probing };
  if (!probing && failures < rules.failuresBeforeProbing) return { failures };
  const pauseMs = probing ? Math.min(2 * probing.pauseMs, rules.longestPauseMs) : rules.firstPauseMs;
  return { failures, probing: { pauseMs, nextAtMs: nowMs + pauseMs, out: false } };
}

/** Probes go out as soon as there is a call: so long without one, nobody asks any more, and nobody is kept waiting. */
const ASKED_WITHIN_MS = 600_000;

/** Whether the service fails every call, as far as calls have shown lately. */
export function failsEveryCall({ probing }: Trouble, nowMs: number): boolean {
  return probing !== undefined && (probing.out || nowMs - probing.nextAtMs <= ASKED_WITHIN_MS);
}

export function probeSent(trouble: Trouble): Trouble {
  return trouble.probing ? { ...trouble, probing: { ...trouble.probing, out: true } } : trouble;
}

/** The probe was not made, or says nothing. */
export function probeBack(trouble: Trouble): Trouble {
  return trouble.probing ? { ...trouble, probing: { ...trouble.probing, out: false } } : trouble;
}

/**
 * When a probe may be made; undefined while one is out.
 * @param unrepeatable it lets others go first: an outcome that is lost with a failing service needs an operator
 */
export function probeAt({ probing }: Trouble, unrepeatable: boolean): number | undefined {
  if (!probing) return 0;
  if (probing.out) return undefined;
  return probing.nextAtMs + (unrepeatable ? probing.pauseMs : 0);
}

/**
 * The request budget of one application, as one process knows it. Events make a new one (`afterEvent`), and `decide`
 * says what it means for a call; neither looks at a clock.
 */
export interface Budget {
  readonly rules: BudgetRules;
  readonly limit: number;
  readonly window: Window;
  /** Requests of the window that are gone, by the provider's last count: a least, since it can only grow. */
  readonly used: number;
  /** Answers without headers since: spent, until a later answer says otherwise. */
  readonly silent: number;
  readonly silentSentAtMs: number;
  readonly inFlight: Readonly<Record<CallClass, number>>;
  /** What the fleet has spent of the window, by its last count; undefined while this process counts alone. */
  readonly fleetSpent: number | undefined;
  /** The count allows no more under way until others end theirs; it is asked again then. */
  readonly askAgainAtMs: number;
  /** After a 429 nothing is sent until then. */
  readonly closedUntilMs: number;
  readonly trouble: Trouble;
}

export function newBudget(rules: BudgetRules, nowMs: number): Budget {
  return {
    rules,
    limit: rules.fallbackLimit,
    window: guessedWindow(rules.lengthMs, nowMs),
    used: 0,
    silent: 0,
    silentSentAtMs: 0,
    inFlight: { interactive: 0, background: 0 },
    fleetSpent: undefined,
    askAgainAtMs: 0,
    closedUntilMs: 0,
    trouble: NO_TROUBLE,
  };
}

/** The budget at that instant: a window that has ended makes room for a fresh one. */
export function budgetAt(budget: Budget, nowMs: number): Budget {
  const window = windowAt(budget.window, nowMs);
  if (window === budget.window) return budget;
  const fresh = inFreshWindow(budget, window);
  // The clock was set back: instants that were to come would be far away now.
  return window.endsAtMs < budget.window.endsAtMs
    ? { ...fresh, closedUntilMs: 0, askAgainAtMs: 0, trouble: NO_TROUBLE }
    : fresh;
}

export function inFreshWindow(budget: Budget, window: Window): Budget {
  return {
    ...budget,
    window,
    used: 0,
    silent: 0,
    fleetSpent: budget.fleetSpent === undefined ? undefined : 0,
  };
}

export function underWay({ inFlight }: Budget): number {
  return inFlight.interactive + inFlight.background;
}

/**
 * Requests of the window that are gone, or may be: by the fleet's count, else what headers show and all that is under
 * way.
 */
export function spentOf(budget: Budget): number {
  const { used, silent, fleetSpent } = budget;
  return fleetSpent ?? used + silent + underWay(budget);
}

/** At the very end nothing is left unused: a call that comes then waits no longer than this part of a window. */
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
