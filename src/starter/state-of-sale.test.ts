import { describe, expect, test } from "vitest";

import { type Attention, RESOLVED_BY } from "../contract/attention.ts";
import type { FoundSale, KeptDocument } from "../contract/document-calls.ts";
import { ledgerState, outcomeOf } from "./state-of-sale.ts";

const ATTENTION: Attention = {
  code: "stock-unknown",
  message: "It was sent, and no answer came.",
  sinceMs: 5,
  resolvedBy: RESOLVED_BY["stock-unknown"],
};

const KEPT: KeptDocument = {
  number: "INV-1",
  stage: "completed",
  startedAtMs: 1,
  numberTaken: true,
  date: "2026-11-21",
  document: null,
  movements: [],
  attentions: [],
  decisions: [],
  keptAtMs: 9,
  keptBy: { workflowId: "sale/default/biz_1/INV-1", runId: "run-1" },
};

function found(more: Partial<FoundSale> = {}): FoundSale {
  return { ...KEPT, isThrough: true, creditNote: null, ...more };
}

describe("the state of a sale from the ledger", () => {
  test("waits for nothing once the sale is done", () => {
    expect(ledgerState(found())).toMatchObject({ source: "ledger", keptAtMs: 9, waitingFor: "nothing" });
  });

  test("says how the sale continues where something is left to be done", () => {
    const { waitingFor } = ledgerState(found({ stage: "awaiting-authority", isThrough: false }));
    expect(waitingFor).toContain("until the same sale is started again");
  });

  test("names the refund of its credit note, and not of one that was given up", () => {
    const refund = { reason: "06", traderInvoiceNumber: "CN-1", restock: true } as const;
    const credited = { ...KEPT, number: "CN-1", stage: "credited", refund } as const;
    expect(outcomeOf(ledgerState(found({ creditNote: credited })))).toMatchObject({ stage: "credited", refund });
    expect(ledgerState(found({ creditNote: { ...credited, stage: "cancelled" } }))).not.toHaveProperty("refund");
  });

  test("says what its credit note needs an operator for among its own attentions, and so does its outcome", () => {
    const mismatch: Attention = { ...ATTENTION, code: "mismatch", resolvedBy: RESOLVED_BY.mismatch };
    const note: KeptDocument = { ...KEPT, number: "CN-1", stage: "rejected", attentions: [ATTENTION] };
    const sale = found({ attentions: [mismatch], creditNote: note });
    const named = { ...ATTENTION, subject: "CN-1", message: `Credit note CN-1: ${ATTENTION.message}` };
    expect(ledgerState(sale).attentions).toEqual([mismatch, named]);
    expect(outcomeOf(ledgerState(sale))).toMatchObject({ source: "ledger", stage: "completed", attention: mismatch });
  });

  test("tells the decisions on both documents in their order", () => {
    const decided = (atMs: number) => ({ update: "retry", note: `at ${atMs}`, atMs }) as const;
    const note: KeptDocument = { ...KEPT, number: "CN-1", decisions: [decided(2)] };
    const { decisions } = ledgerState(found({ decisions: [decided(1), decided(3)], creditNote: note }));
    expect(decisions.map(({ atMs }) => atMs)).toEqual([1, 2, 3]);
  });
});
