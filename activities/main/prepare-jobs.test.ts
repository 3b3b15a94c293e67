import { describe, expect, test } from "vitest";

import { parseAccountingDialect } from "../../src/accounting/dialect.ts";
import type { PreparedReconcile } from "../../src/contract/index.ts";
import { createLedgerActivities } from "../ledger.ts";
import { inActivity, serve } from "../test-support/served.ts";
import { createJobPreparations } from "./prepare-jobs.ts";

const BY_DEFAULT = { invoiceNumberIn: "billCode", supplier: "same-name", currency: "KES" };
const OTHER_RULE = {
  COMPLIANCE_RECONCILE_INVOICE_NUMBER_IN: "billPaymentCode",
  COMPLIANCE_RECONCILE_SUPPLIER: "any",
};

describe("the preparation of a reconciliation", () => {
  /** @param books the connections to the accounting service that the worker serves */
  async function prepare({
    env = {},
    books = [],
  }: { env?: Record<string, string>; books?: string[] } = {}): Promise<PreparedReconcile> {
    const accounting = books.map((name) => [
      name,
      { baseUrl: "http://127.0.0.1:9", apiKey: { env: `KEY_OF_${name}` } },
    ]);
    const keys = Object.fromEntries(books.map((name) => [`KEY_OF_${name}`, `sk_development_${name}`]));
    const configFile = JSON.stringify({ accounting: Object.fromEntries(accounting) as unknown });
    const { context } = await serve({ env: { ...env, ...keys }, configFile });
    const dialect = parseAccountingDialect();
    const served = books.map(
      (name) =>
        [name, { profile: { connection: name, callTimeoutMs: 1_000, unservedAfterMs: 60_000 }, dialect }] as const,
    );
    const { prepareReconcile } = createJobPreparations(context.connections, new Map(served));
    return await prepareReconcile({ input: {} });
  }

  test("takes the rule and the payments that the product has by default", async () => {
    expect(await prepare({ books: ["default", "other"] })).toMatchObject({
      accounting: "default",
      rule: BY_DEFAULT,
    });
  });

  test("says why there are no payments to compare with, and what to do about it", async () => {
    expect((await prepare()).accounting).toMatchObject({
      kind: "not-compared",
      why: "no-accounting-service",
      nextStep: expect.stringContaining("ACCOUNTING_BASE_URL"),
    });
    expect((await prepare({ books: ["books", "till"] })).accounting).toMatchObject({
      kind: "not-compared",
      why: "no-accounting-connection",
      reason: expect.stringContaining("books, till"),
      nextStep: expect.stringContaining("COMPLIANCE_RECONCILE_ACCOUNTING"),
    });
  });

  test("takes what the connection is configured with", async () => {
    const env = { ...OTHER_RULE, COMPLIANCE_RECONCILE_ACCOUNTING: "other" };
    expect(await prepare({ env, books: ["default", "other"] })).toMatchObject({
      accounting: "other",
      rule: { invoiceNumberIn: "billPaymentCode", supplier: "any", currency: "KES" },
    });
  });
});

test("The comparison with bill payments wants the invoices of every business that they pay for", async () => {
  const env = { COMPLIANCE_KEY_REACH: "organisation", COMPLIANCE_BUSINESSES: "biz_2,biz_3" };
  const { context } = await serve({ env });
  const activities = createLedgerActivities(context);
  const rule = { invoiceNumberIn: "billCode", supplier: "same-name", currency: "KES" } as const;
  const compare = (accounting: string) =>
    inActivity(() => activities.reconcilePayments({ connection: "default", businessId: "biz_2", accounting, rule }));
  const ofOthers = "biz_1, whose bills connection default pays too, nor all supplier invoices of the business biz_3,";
  expect(await compare("default")).toMatchObject({ reason: expect.stringContaining(ofOthers) });
  expect(await compare("of-nobody")).toMatchObject({ reason: expect.not.stringContaining("pays too") });
});
