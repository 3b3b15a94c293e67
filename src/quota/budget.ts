import { type Company, companyFactor, NO_COMPANY } from "./alone.ts";
import type { CallClass } from "./call-class.ts";
import type { BudgetRules } from "./rules.ts";
import { NO_TROUBLE, type Trouble } from "./trouble.ts";
import { guessedWindow, type Window, windowAt } from "./window.ts";

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
  readonly company: Company;
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
    company: NO_COMPANY,
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
  const factor = companyFactor(budget.company, budget.used);
  return {
    ...budget,
    window,
    used: 0,
    silent: 0,
    fleetSpent: budget.fleetSpent === undefined ? undefined : 0,
    company: { ...NO_COMPANY, factor },
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
