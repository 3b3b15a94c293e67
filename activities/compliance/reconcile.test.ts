import { describe, expect, test } from "vitest";

import type { SaleDocument } from "../../src/contract/index.ts";
import type { Fault } from "../../src/dev/simulator/index.ts";
import { keepRecord, recordOf, WRITER } from "../../src/ledger/test-support/records.ts";
import { PASSING_MS } from "./businesses.ts";
import { MOST_UNREAD_OF_DOCUMENT } from "./documents.ts";
import { sellTea } from "../test-support/requests.ts";
import { failureOf, inActivity, serve, type Served } from "../test-support/served.ts";

const BUSINESS = { connection: "default", businessId: "biz_1" };
const at = (fault: Omit<Fault, "operation">): Fault => ({ operation: "readSale", ...fault });

/** A sale that the ledger knows as the service answered it. */
async function kept(served: Served, what: string): Promise<SaleDocument> {
  const number = what.replaceAll(/[^A-Za-z0-9]+/g, "-");
  const sold = await sellTea(served, number);
  if (sold.kind !== "document") throw new Error(`no document in ${JSON.stringify(sold)}`);
  await keepRecord(served.context.ledger, BUSINESS, recordOf(number, { document: sold.document }), WRITER);
  return sold.document;
}

function reconcile(served: Served, { id, traderInvoiceNumber }: SaleDocument) {
  const document = { type: "sale" as const, number: traderInvoiceNumber, saleId: id };
  return () => served.activities.reconcileDocument({ ...BUSINESS, ...document });
}

async function kindsOf({ context }: Served, { id }: SaleDocument): Promise<string[]> {
  const { first } = await context.ledger.reconciliation.findings(BUSINESS, 1_000);
  return first.filter(({ subject }) => subject === id).map(({ kind }) => kind);
}

describe("comparing a document with the service", () => {
  test.each<[string, Omit<Fault, "operation">]>([
    ["a 500", { when: "before", kind: "status", status: 500 }],
    ["a proxy's page", { when: "after", kind: "not-json" }],
    ["wrong types", { when: "after", kind: "wrong-types" }],
  ])("reports a document whose every answer is %s, and goes on", async (what, fault) => {
    const served = await serve();
    const sale = await kept(served, `REC ${what}`);
    served.simulator.inject(at({ ...fault, times: MOST_UNREAD_OF_DOCUMENT }));
    for (let answers = 1; answers < MOST_UNREAD_OF_DOCUMENT; answers += 1)
      expect(await failureOf(reconcile(served, sale))).toMatchObject({ type: "Transient", retryable: true });
    expect(await kindsOf(served, sale)).toEqual([]);
    served.clock.nowMs += PASSING_MS;
    expect(await inActivity(reconcile(served, sale))).toEqual({ kind: "unreadable" });
    expect(await kindsOf(served, sale)).toEqual(["document-unreadable"]);
    expect(await inActivity(reconcile(served, sale))).toEqual({ kind: "final" });
    expect(await kindsOf(served, sale)).toEqual([]);
  });

  test.each([400, 409])("reports a document that is refused with %i, and goes on", async (status) => {
    const served = await serve();
    const sale = await kept(served, `REC ${status}`);
    served.simulator.inject(at({ when: "before", kind: "status", status, times: 1 }));
    expect(await inActivity(reconcile(served, sale))).toEqual({ kind: "unreadable" });
    expect(await kindsOf(served, sale)).toEqual(["document-unreadable"]);
    expect(await inActivity(reconcile(served, sale))).toEqual({ kind: "final" });
    expect(await kindsOf(served, sale)).toEqual([]);
  });

  test("says of a rejected document whether its sale was cancelled", async () => {
    const served = await serve();
    served.simulator.setDefaultAuthority({ do: "reject", reason: "PIN is wrong" });
    const number = "REC-REJECTED";
    const sold = await sellTea(served, number);
    if (sold.kind !== "rejected" || !sold.document) throw new Error(`no document in ${JSON.stringify(sold)}`);
    const { document } = sold;
    const keep = (stage: "rejected" | "cancelled", asOfMs: number) =>
      keepRecord(served.context.ledger, BUSINESS, recordOf(number, { document, stage, asOfMs, movements: [] }), WRITER);
    const asOfMs = Date.now();
    served.clock.nowMs = asOfMs + 2;
    await keep("rejected", asOfMs);
    expect(await inActivity(reconcile(served, document))).toEqual({ kind: "not-final" });
    await keep("cancelled", asOfMs + 1);
    expect(await inActivity(reconcile(served, document))).toEqual({ kind: "not-final", givenUp: true });
  });

  test.each<[string, Omit<Fault, "operation">]>([
    ["a 500, however many attempts were lost with their workers", { when: "before", kind: "status", status: 500 }],
    ["a proxy's page, however often the call was put off", { when: "after", kind: "not-json" }],
    ["a broken connection", { when: "before", kind: "drop" }],
  ])("is tried again after %s", async (_what, fault) => {
    const served = await serve();
    const sale = await kept(served, `AGAIN ${fault.kind}`);
    served.simulator.inject(at({ ...fault, times: 1 }));
    const failed = await failureOf(reconcile(served, sale), { attempt: 1_000 });
    expect(failed).toMatchObject({ type: "Transient", retryable: true });
    expect(await kindsOf(served, sale)).toEqual([]);
  });

  test("does not count broken connections, nor another document's answers, as unreadable answers of this one", async () => {
    const served = await serve();
    const sale = await kept(served, "REC broken");
    const other = await kept(served, "REC other");
    const once = { when: "before", times: 1 } as const;
    for (let answers = 1; answers < MOST_UNREAD_OF_DOCUMENT; answers += 1) {
      for (const [which, fault] of [
        [sale, { kind: "status", status: 500 }],
        [sale, { kind: "drop" }],
        [other, { kind: "status", status: 500 }],
      ] as const) {
        served.simulator.inject(at({ ...once, ...fault }));
        expect(await failureOf(reconcile(served, which))).toMatchObject({ type: "Transient" });
      }
    }
    served.clock.nowMs += PASSING_MS;
    expect(await inActivity(reconcile(served, sale))).toEqual({ kind: "final" });
    served.simulator.inject(at({ ...once, kind: "status", status: 500 }));
    // The answer in between has ended the row.
    expect(await failureOf(reconcile(served, sale))).toMatchObject({ type: "Transient" });
    expect(await kindsOf(served, sale)).toEqual([]);
  });

  test("needs an operator for a refused key, and reports nothing about the document", async () => {
    const served = await serve();
    const sale = await kept(served, "REC key");
    served.simulator.setApplication("simulator", { suspended: true });
    expect(await inActivity(reconcile(served, sale))).toMatchObject({ kind: "refused", attention: "credentials" });
    expect(await kindsOf(served, sale)).toEqual([]);
  });
});
