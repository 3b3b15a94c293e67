import type { BudgetRules } from "./rules.ts";

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
