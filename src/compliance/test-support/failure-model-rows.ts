import { describe, expect, test } from "vitest";

import type { ClassificationRules } from "../classify.ts";
import { classify, rulesOf } from "../classify.ts";
import { parseDialect } from "../dialect.ts";
import type { OperationName } from "../operations.ts";
import type { AnswerOutcome, Classification, Outcome } from "../classify.ts";

/** The rows of the failure model, in its words, each with what it means for every operation that it speaks of. */
export type Expectation = [says: string, outcome: Outcome, means: Classification, rules?: Partial<ClassificationRules>];

export const base = rulesOf(parseDialect());
export const lost: Outcome = { kind: "lost" };
export const notSent: Outcome = { kind: "not-sent" };

export function answer(status: number, more: Partial<AnswerOutcome> = {}): AnswerOutcome {
  return { kind: "answer", status, documented: false, envelope: false, ...more };
}
export const said = (status: number, more: Partial<AnswerOutcome> = {}) => answer(status, { envelope: true, ...more });
export const shown = (status: number, more: Partial<AnswerOutcome> = {}) =>
  answer(status, { documented: true, ...more });

export const transient: Classification = { kind: "transient" };
export const converging: Classification = { kind: "converging" };
export const notApplied: Classification = { kind: "not-applied" };
export const unknownOutcome: Classification = { kind: "unknown" };
export const unknownKeyed: Classification = { kind: "unknown-keyed" };
export const refused = (attention: Extract<Classification, { kind: "refused" }>["attention"]): Classification => ({
  kind: "refused",
  attention,
});

export function holds(operations: readonly OperationName[], expectations: readonly Expectation[]): void {
  for (const name of operations) {
    describe(`${name}`, () => {
      test.each(expectations.map(([says, ...rest]) => ({ says, rest })))("$says", ({ rest }) => {
        const [outcome, means, rules] = rest;
        expect(classify(name, outcome, { ...base, ...rules })).toEqual(means);
      });
    });
  }
}
