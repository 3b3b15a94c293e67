import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { FINDING_KINDS, type PaymentRule } from "../../contract/index.ts";
import { createTestLedger, type TestLedger } from "../test-support/create-test-ledger.ts";
import { documentOf, recordOf, someBusiness, WRITER } from "../test-support/records.ts";

let test: TestLedger;
beforeAll(async () => {
  test = await createTestLedger(15_000);
  await test.ledger.ready();
});
afterAll(() => test?.drop());

type Business = ReturnType<typeof someBusiness>;
const RULE: PaymentRule = { invoiceNumberIn: "billCode", supplier: "same-name", currency: "KES" };
const runOf = (n: number) => ({ workflowId: "reconcile/default/biz", runId: `run-${n}` });

async function found(business: Business): Promise<[string, string, string][]> {
  const { first } = await test.ledger.reconciliation.findings(business, 100);
  return first.map(({ kind, subject, reason }) => [kind, subject, reason]);
}

describe("a document held against the service", () => {
  const sale = (number: string) => ({ type: "sale" as const, number, saleId: `sale_${number}` });
  const hold = (business: Business, number: string, told: ReturnType<typeof documentOf> | undefined) =>
    test.ledger.reconciliation.holdDocument(business, sale(number), told, runOf(1));
  const listed = async (business: Business): Promise<string[]> =>
    (await test.ledger.reconciliation.documents(business, undefined, 10)).map(({ number }) => number);

  it("is not asked for again once it is final and the same, until the ledger knows another state", async () => {
    const business = someBusiness();
    await test.ledger.records.saveDocument(business, recordOf("INV-1"), WRITER);
    await test.ledger.records.saveDocument(business, recordOf("INV-2"), WRITER);
    expect(await listed(business)).toEqual(["INV-1", "INV-2"]);
    const near = documentOf("INV-1", { totals: { total: 700.21, taxableAmount: 603.61, taxAmount: 96.58 } });
    expect(await hold(business, "INV-1", near)).toBe("final");
    expect(await listed(business)).toEqual(["INV-2"]);
    await test.ledger.records.saveDocument(
      business,
      recordOf("INV-1", { stage: "credited", asOfMs: 1_763_600_000_009 }),
      WRITER,
    );
    expect(await listed(business)).toEqual(["INV-1", "INV-2"]);
  });

  it("is a finding where amounts differ by more than a cent, or it is not there; and none any more once it is mended", async () => {
    const business = someBusiness();
    await test.ledger.records.saveDocument(business, recordOf("INV-1"), WRITER);
    await test.ledger.records.saveDocument(business, recordOf("INV-2"), WRITER);
    const other = documentOf("INV-1", { totals: { total: 700.22, taxableAmount: 603.62, taxAmount: 96.58 } });
    expect(await hold(business, "INV-1", other)).toBe("differs");
    expect(await hold(business, "INV-2", undefined)).toBe("differs");
    expect(await found(business)).toEqual([
      ["document-differs", "sale_INV-1", "The sale INV-1 (sale_INV-1): the total is 700.22, in the ledger 700.2."],
      ["document-not-there", "sale_INV-2", expect.stringContaining("the service knows no such document")],
    ]);
    expect(await hold(business, "INV-1", documentOf("INV-1"))).toBe("final");
    expect(await hold(business, "INV-2", documentOf("INV-2"))).toBe("final");
    expect(await found(business)).toEqual([]);
    const { rows } = await test.outside.query(
      "select kind from events where business_id = $1 and kind like 'finding%' order by number",
      [business.businessId],
    );
    expect(rows).toEqual(
      ["finding-raised", "finding-raised", "finding-gone", "finding-gone"].map((kind) => ({ kind })),
    );
  });

  it("is behind where the service knows its end already, and is asked for again while it is in flight", async () => {
    const business = someBusiness();
    const inFlight = documentOf("INV-1", { status: "pending", receipt: null });
    await test.ledger.records.saveDocument(
      business,
      recordOf("INV-1", { document: inFlight, stage: "awaiting-authority" }),
      WRITER,
    );
    expect(await hold(business, "INV-1", inFlight)).toBe("not-final");
    expect(await listed(business)).toEqual(["INV-1"]);
    expect(await hold(business, "INV-1", documentOf("INV-1"))).toBe("differs");
    expect((await found(business)).map(([kind]) => kind)).toEqual(["document-behind"]);
  });
});

describe("supplier invoices held against bill payments", () => {
  interface Invoice {
    id: string;
    number: string;
    total: string;
    supplier?: string;
    status?: string;
  }
  interface Payment {
    id: string;
    code: string | null;
    amount: string;
    supplier?: string;
    currency?: string | null;
  }

  /** Rows as the synchronisations write them. */
  async function books(invoices: Invoice[], payments: Payment[]): Promise<{ business: Business; accounting: string }> {
    const business = someBusiness();
    const accounting = `acc-${business.businessId}`;
    for (const { id, number, total, supplier = "Mama Mboga Ltd.", status = "confirmed" } of invoices)
      await test.outside.query(
        `insert into purchases (connection, business_id, purchase_id, status, supplier_name, supplier_invoice_number, invoice_date,
           subtotal, vat, total, content_hash, body, observed_at, seen_by, event_number, workflow_id, run_id)
         values ('default', $1, $2, $3, $4, $5, '2026-11-01', 0, 0, $6, '', '{}', now(), '', 1, 'w', 'r')`,
        [business.businessId, id, status, supplier, number, total],
      );
    for (const { id, code, amount, supplier = "MAMA MBOGA LTD", currency = "KES" } of payments)
      await test.outside.query(
        `insert into bill_payments (connection, bill_payment_id, supplier_name, bill_code, total_amount, currency, content_hash, body,
           observed_at, event_number, workflow_id, run_id)
         values ($1, $2, $3, $4, $5, $6, '', '{}', now(), 1, 'w', 'r')`,
        [accounting, id, supplier, code, amount, currency],
      );
    return { business, accounting };
  }

  async function kindsFound(invoices: Invoice[], payments: Payment[], rule: Partial<PaymentRule> = {}) {
    const { business, accounting } = await books(invoices, payments);
    await test.ledger.reconciliation.holdPayments(business, { accounting, rule: { ...RULE, ...rule } }, runOf(1));
    return (await found(business)).map(([kind, subject]) => [kind, subject]);
  }

  const INVOICE: Invoice = { id: "p1", number: "SI-1", total: "1160.00" };

  it("match by number and supplier's name, however they are written, over several payments, to the cent", async () => {
    expect(await kindsFound([INVOICE], [{ id: "b1", code: " si-1", amount: "1160.01" }])).toEqual([]);
    const parts = [
      { id: "b1", code: "SI-1", amount: "1000" },
      { id: "b2", code: "SI-1", amount: "160.00" },
    ];
    expect(await kindsFound([INVOICE], parts)).toEqual([]);
    expect(await kindsFound([{ ...INVOICE, status: "rejected" }], [])).toEqual([]);
  });

  it.each<[string, Invoice[], Payment[], [string, string][]]>([
    ["no number", [], [{ id: "b1", code: " ", amount: "1" }], [["payment-without-number", "b1"]]],
    ["no invoice", [], [{ id: "b1", code: "SI-9", amount: "1" }], [["payment-without-invoice", "b1"]]],
    [
      "another supplier",
      [INVOICE],
      [{ id: "b1", code: "SI-1", amount: "1160", supplier: "Otieno" }],
      [["payment-of-other-supplier", "b1"]],
    ],
    [
      "two invoices",
      [INVOICE, { ...INVOICE, id: "p2" }],
      [{ id: "b1", code: "SI-1", amount: "1160" }],
      [["payment-of-several", "b1"]],
    ],
    [
      "another currency",
      [INVOICE],
      [{ id: "b1", code: "SI-1", amount: "9", currency: "USD" }],
      [["payment-in-other-currency", "b1"]],
    ],
    [
      "no currency",
      [INVOICE],
      [{ id: "b1", code: "SI-1", amount: "1160", currency: null }],
      [["payment-in-other-currency", "b1"]],
    ],
    [
      "a rejected invoice",
      [{ ...INVOICE, status: "rejected" }],
      [{ id: "b1", code: "SI-1", amount: "1160" }],
      [["paid-although-rejected", "p1"]],
    ],
    ["too little", [INVOICE], [{ id: "b1", code: "SI-1", amount: "1159.98" }], [["paid-another-amount", "p1"]]],
    ["too much", [INVOICE], [{ id: "b1", code: "SI-1", amount: "1160.02" }], [["paid-another-amount", "p1"]]],
    ["nothing", [INVOICE], [], [["not-paid", "p1"]]],
  ])("are a finding with a next step: %s", async (_what, invoices, payments, expected) => {
    expect(await kindsFound(invoices, payments)).toEqual(expected);
  });

  it("follow the rule: another field, any supplier, another currency", async () => {
    const other: Payment[] = [{ id: "b1", code: "SI-1", amount: "1160", supplier: "Otieno", currency: "USD" }];
    expect(await kindsFound([INVOICE], other, { supplier: "any", currency: "USD" })).toEqual([]);
    expect(await kindsFound([INVOICE], other, { invoiceNumberIn: "billPaymentCode" })).toEqual([
      ["not-paid", "p1"],
      ["payment-without-number", "b1"],
    ]);
  });

  it("are told once, with since when, and are gone once they match", async () => {
    const { business, accounting } = await books([INVOICE, { ...INVOICE, id: "p2", number: "SI-2" }], []);
    const hold = (n: number) => test.ledger.reconciliation.holdPayments(business, { accounting, rule: RULE }, runOf(n));
    await hold(1);
    const before = await test.ledger.reconciliation.findings(business, 10);
    await hold(2);
    expect(await test.ledger.reconciliation.findings(business, 10)).toEqual(before);
    await test.outside.query(
      `insert into bill_payments (connection, bill_payment_id, supplier_name, bill_code, total_amount, currency, content_hash, body,
         observed_at, event_number, workflow_id, run_id) values ($1, 'b1', 'Mama Mboga Ltd', 'SI-1', 1160, 'KES', '', '{}', now(), 1, 'w', 'r')`,
      [accounting],
    );
    await hold(3);
    expect((await found(business)).map(([, subject]) => subject)).toEqual(["p2"]);
    expect(before).toMatchObject({ count: 2, byKind: { "not-paid": 2 } });
  });

  it("have a word for every kind of finding", () => {
    expect(new Set(FINDING_KINDS).size).toBe(11);
  });
});
