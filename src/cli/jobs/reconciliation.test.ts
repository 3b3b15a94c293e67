import { describe, expect, it } from "vitest";

import type { NotCompared, PaymentComparison, ReconcileOutcome } from "../../contract/index.ts";
import { reconciliation } from "./jobs.ts";

function outcomeOf(payments: PaymentComparison, count = 0): ReconcileOutcome {
  const progress = { documents: 3, final: 3, differing: 0, unreadable: 0 };
  return { ...progress, payments, findings: { count, byKind: { "not-paid": count }, first: [] } };
}

function notCompared(why: NotCompared["why"]): NotCompared {
  return { kind: "not-compared", why, reason: "There is a reason.", nextStep: "Take the next step." };
}

const COMPARED: PaymentComparison = {
  kind: "compared",
  accounting: "books",
  invoicesAsOfMs: Date.parse("2026-11-20T06:00:00Z"),
  paymentsAsOfMs: Date.parse("2026-11-19T21:30:00Z"),
};
const NO_SERVICE = notCompared("no-accounting-service");

describe("the result of a reconciliation", () => {
  const textOf = (payments: PaymentComparison, count?: number) => reconciliation.resultText(outcomeOf(payments, count));

  it("says that everything matches only where both parts ran", () => {
    expect(textOf(COMPARED)).toMatch(/of connection books.*\nEverything matches\.$/);
    expect(textOf(NO_SERVICE)).not.toContain("Everything matches");
    expect(textOf(COMPARED, 2)).not.toContain("Everything matches");
  });

  it("has counts that add up", () => {
    const [line] = reconciliation
      .resultText({ ...outcomeOf(COMPARED), documents: 7, final: 3, differing: 1, unreadable: 1 })
      .split("\n");
    expect(line).toBe(
      "7 documents checked: 3 final and the same, 2 not final yet (in flight or rejected), 1 different, 1 unreadable.",
    );
    const [given] = reconciliation
      .resultText({ ...outcomeOf(COMPARED), documents: 6, final: 3, differing: 0, unreadable: 0, givenUp: 1 })
      .split("\n");
    expect(given).toBe(
      "6 documents checked: 3 final and the same, 2 not final yet (in flight or rejected), 1 given up (rejected, then cancelled), 0 different, 0 unreadable.",
    );
    const one = { documents: 1, final: 1, differing: 0, unreadable: 0 };
    expect(reconciliation.progressLine(one)).toBe(
      "1 document checked: 1 final and the same, 0 different, 0 unreadable",
    );
  });

  it("says how many documents were not read, since they were equal earlier", () => {
    const [line] = reconciliation.resultText({ ...outcomeOf(COMPARED), skipped: 20 }).split("\n");
    expect(line).toBe(
      "3 documents checked: 3 final and the same, 0 different, 0 unreadable; 20 skipped, final and the same when last checked.",
    );
  });

  it("says in its first line what was checked and found, and what was not compared", () => {
    const [line] = textOf(notCompared("not-synchronised"), 1).split("\n");
    expect(line).toBe(
      "3 documents checked: 3 final and the same, 0 different, 0 unreadable; 1 finding; payments not compared.",
    );
  });

  it("counts the findings of each kind", () => {
    expect(textOf(COMPARED, 2)).toContain("\nSupplier invoices that no payment names: 2\n");
  });

  it("says as of when the ledger had both sides", () => {
    expect(textOf(COMPARED)).toMatch(/as of 2026-11-20 09:00.*as of 2026-11-20 00:30/);
  });

  it("says what was not compared, why, and what to do next, also beside findings", () => {
    for (const count of [0, 2]) {
      expect(textOf(NO_SERVICE, count)).toMatch(
        /not held against bill payments.* There is a reason\.\n  Take the next step\./,
      );
    }
  });

  it("is a failure where anything was found, or a configured accounting service was not compared", () => {
    const failed = (outcome: ReconcileOutcome) => reconciliation.failed?.(outcome);
    expect(failed(outcomeOf(COMPARED))).toBe(false);
    expect(failed(outcomeOf(COMPARED, 1))).toBe(true);
    expect(failed(outcomeOf(NO_SERVICE))).toBe(false);
    expect(failed(outcomeOf(notCompared("no-accounting-connection")))).toBe(true);
    expect(failed(outcomeOf(notCompared("not-synchronised")))).toBe(true);
  });
});
