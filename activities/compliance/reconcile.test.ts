import { describe, expect, test } from "vitest";

import type { SaleDocument } from "../../src/contract/index.ts";
import type { Fault } from "../../src/simulator/index.ts";
import { recordOf, WRITER } from "../../src/ledger/test-support/records.ts";
import { sellTea } from "../test-support/requests.ts";
import { type Attempt, failureOf, inActivity, serve, type Served } from "../test-support/served.ts";
import { MOST_LOOKS } from "./reconcile.ts";

const BUSINESS = { connection: "default", businessId: "biz_1" };
const at = (fault: Omit<Fault, "operation">): Fault => ({ operation: "readSale", ...fault });

/** A sale that the ledger knows as the service told it. */
async function kept(served: Served, what: string): Promise<SaleDocument> {
  const number = what.replaceAll(/[^A-Za-z0-9]+/g, "-");
  const sold = await sellTea(served, number);
  if (sold.kind !== "document") throw new Error(`no document in ${JSON.stringify(sold)}`);
  await served.context.ledger.records.saveDocument(BUSINESS, recordOf(number, { document: sold.document }), WRITER);
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

describe("holding a document against the service", () => {
  test.each<[string, Omit<Fault, "operation">, Attempt]>([
    ["a 500 again and again", { when: "before", kind: "status", status: 500 }, { attempt: MOST_LOOKS }],
    ["a proxy's page again and again", { when: "after", kind: "not-json" }, { attempt: MOST_LOOKS }],
    ["wrong types again and again", { when: "after", kind: "wrong-types" }, { attempt: MOST_LOOKS }],
    ["a 400", { when: "before", kind: "status", status: 400 }, {}],
    ["a 409", { when: "before", kind: "status", status: 409 }, {}],
  ])("finds one that has no answer but %s, and goes on", async (what, fault, attempt) => {
    const served = await serve();
    const sale = await kept(served, `REC ${what}`);
    served.simulator.inject(at({ ...fault, times: 1 }));
    expect(await inActivity(reconcile(served, sale), attempt)).toEqual({ kind: "unreadable" });
    expect(await kindsOf(served, sale)).toEqual(["document-unreadable"]);
    expect(await inActivity(reconcile(served, sale))).toEqual({ kind: "final" });
    expect(await kindsOf(served, sale)).toEqual([]);
  });

  test.each<[string, Omit<Fault, "operation">, Attempt]>([
    ["a 500", { when: "before", kind: "status", status: 500 }, { attempt: MOST_LOOKS - 1 }],
    ["a proxy's page", { when: "after", kind: "not-json" }, { attempt: MOST_LOOKS - 1 }],
    ["a broken connection, however often", { when: "before", kind: "drop" }, { attempt: 1_000 }],
  ])("is tried again after %s", async (what, fault, attempt) => {
    const served = await serve();
    const sale = await kept(served, `AGAIN ${what}`);
    served.simulator.inject(at({ ...fault, times: 1 }));
    expect(await failureOf(reconcile(served, sale), attempt)).toMatchObject({ type: "Transient", retryable: true });
    expect(await kindsOf(served, sale)).toEqual([]);
  });

  test("needs a person for what is wrong with the key, and says nothing of the document", async () => {
    const served = await serve();
    const sale = await kept(served, "REC key");
    served.simulator.setApplicationSuspended("simulator", true);
    expect(await inActivity(reconcile(served, sale))).toMatchObject({ kind: "refused", attention: "credentials" });
    expect(await kindsOf(served, sale)).toEqual([]);
  });
});
