import type { Classification } from "./classification.ts";
import type { ComplianceDialect } from "./dialect.ts";
import type { AnswerOutcome, Outcome } from "./outcome.ts";

/** What a classification depends on besides the outcome. */
export interface ClassificationRules {
  saleKey: ComplianceDialect["createSale"]["idempotencyKey"];
  alreadyCredited: string | null;
  /** registerItem: `force` was asked for. */
  forceAsked: boolean;
}

/** One row of the failure model: says nothing of an outcome that it does not describe. */
export interface Row {
  says: string;
  judge: (outcome: Outcome, rules: ClassificationRules) => Classification | undefined;
}

export function onOutcome(
  says: string,
  when: (outcome: Outcome, rules: ClassificationRules) => boolean,
  means: (outcome: Outcome, rules: ClassificationRules) => Classification,
): Row {
  return { says, judge: (outcome, rules) => (when(outcome, rules) ? means(outcome, rules) : undefined) };
}

export function onAnswer(
  says: string,
  when: (answer: AnswerOutcome, rules: ClassificationRules) => boolean,
  means: (answer: AnswerOutcome, rules: ClassificationRules) => Classification,
): Row {
  const judge: Row["judge"] = (outcome, rules) =>
    outcome.kind === "answer" && when(outcome, rules) ? means(outcome, rules) : undefined;
  return { says, judge };
}

/**
 * Lost on the way, or a server that could not: whatever was asked for may have happened. 408 is a timeout seen from
 * there.
 */
export function isTrouble(outcome: Outcome): boolean {
  if (outcome.kind === "lost") return true;
  return outcome.kind === "answer" && (outcome.status >= 500 || outcome.status === 408);
}

export function isTroubleOrUnreadable(outcome: Outcome): boolean {
  return isTrouble(outcome) || isUnreadableSuccess(outcome);
}

/** A success whose body, or whose very status, is not what the document says. */
function isUnreadableSuccess(outcome: Outcome): boolean {
  return outcome.kind === "answer" && !outcome.documented && outcome.status >= 200 && outcome.status <= 299;
}

export const refusedLocally = onOutcome(
  "the client refuses the call as asked",
  ({ kind }) => kind === "refused-locally",
  () => ({ kind: "refused", attention: "invalid-request" }),
);

export const heldBack: Row = {
  says: "kept back by the budget",
  judge: (outcome) =>
    outcome.kind === "held-back" ? { kind: "deferred", retryAfterMs: outcome.retryAfterMs } : undefined,
};

export const tooMany = onAnswer(
  "429",
  ({ status }) => status === 429,
  ({ retryAfterMs }) => ({ kind: "deferred", retryAfterMs }),
);

export const badKey = onAnswer(
  "401, 403",
  ({ status }) => status === 401 || status === 403,
  () => ({ kind: "configuration" }),
);

export const malformed = onAnswer(
  "400 with the error envelope",
  ({ status, envelope }) => status === 400 && envelope,
  () => ({ kind: "refused", attention: "invalid-request" }),
);

export const notThere = onAnswer(
  "404",
  ({ status }) => status === 404,
  () => ({ kind: "refused", attention: "not-found" }),
);

/** The rows of "any call", for all but the stock adjustment, which believes no 4xx without the envelope. */
export const ANY_CALL: readonly Row[] = [refusedLocally, heldBack, tooMany, badKey, malformed, notThere];

export const done = onAnswer(
  "the answer that the document shows",
  ({ documented }) => documented,
  () => ({ kind: "ok" }),
);

export const notSent = onOutcome(
  "not a byte left",
  ({ kind }) => kind === "not-sent",
  () => ({ kind: "not-applied" }),
);

export const lostConverging = onOutcome("timeout, 5xx, unreadable body", isTroubleOrUnreadable, () => ({
  kind: "converging",
}));

export const LOST_WRITE = "network after bytes left, timeout, 5xx, unreadable body";
