import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";

import type { PaymentRule } from "../../contract/index.ts";
import { ledgerOfSuite } from "../test-support/create-test-ledger.ts";
import { purchaseOf } from "../test-support/purchases.ts";
import { someBusiness } from "../test-support/records.ts";

const test = ledgerOfSuite();

type Business = ReturnType<typeof someBusiness>;
const RULE: PaymentRule = { invoiceNumberIn: "billCode", supplier: "same-name", currency: "KES" };
const runOf = (n: number) => ({ workflowId: "reconcile/default/biz", runId: `run-${n}` });

async function found(business: Business): Promise<[string, string, string][]> {
  const { first } = await test.ledger.reconciliation.findings(business, 100);
  return first.map(({ kind, subject, reason }) => [kind, subject, reason]);
}

describe("supplier invoices compared with bill payments", () => {
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
    amount: string | null;
    supplier?: string;
    currency?: string | null;
  }

  /** As the synchronisations leave them once they are through. */
  async function syncsOf(business: Business, accounting: string, purchases = "full", settled = true): Promise<void> {
    const [syncId, paymentsSyncId] = [randomUUID(), randomUUID()];
    await test.outside.query(
      `insert into syncs (sync_id, connection, business_id, kind, completed_at, settled)
       values ($1, $4, $2, $3, now(), true)`,
      [syncId, business.businessId, purchases, business.connection],
    );
    await test.outside.query(
      `insert into syncs (sync_id, connection, business_id, kind, completed_at, settled)
       values ($1, 'accounting/' || $2, '-', 'full', now(), $3)`,
      [paymentsSyncId, accounting, settled],
    );
  }

  const pay = (accounting: string, id: string, body: object) =>
    test.outside.query(
      `insert into bill_payments (connection, business_id, id, body, changed_at, observed_at, event_number, workflow_id, run_id)
       values ('accounting/' || $1, '-', $2, $3, now(), now(), 1, 'w', 'r')`,
      [accounting, id, JSON.stringify(body)],
    );

  /** Rows as the synchronisations write them. */
  async function books(invoices: Invoice[], payments: Payment[]): Promise<{ business: Business; accounting: string }> {
    const business = someBusiness();
    const accounting = `acc-${business.businessId}`;
    await syncsOf(business, accounting);
    await rowsOf({ business, accounting }, invoices, payments);
    return { business, accounting };
  }

  async function rowsOf(
    { business, accounting }: { business: Business; accounting: string },
    invoices: Invoice[],
    payments: Payment[],
  ): Promise<void> {
    for (const { id, number, total, supplier = "Mama Mboga Ltd.", status = "confirmed" } of invoices)
      await test.outside.query(
        `insert into purchases (connection, business_id, id, body, changed_at, observed_at, event_number, workflow_id, run_id)
         values ($4, $1, $2, $3, now(), now(), 1, 'w', 'r')`,
        [
          business.businessId,
          id,
          JSON.stringify(
            purchaseOf(id, {
              status,
              supplier: { name: supplier, pin: null },
              supplierInvoiceNumber: number,
              totals: { subtotal: 0, vat: 0, total: Number(total) },
            }),
          ),
          business.connection,
        ],
      );
    for (const { id, code, amount, supplier = "MAMA MBOGA LTD", currency = "KES" } of payments)
      await pay(accounting, id, {
        supplierRef: { name: supplier },
        billRef: { billCode: code },
        totalAmount: amount === null ? null : Number(amount),
        currency,
      });
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
      "no amount",
      [INVOICE],
      [
        { id: "b1", code: "SI-1", amount: "1160" },
        { id: "b2", code: "SI-1", amount: null },
      ],
      [["payment-without-amount", "b2"]],
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

  it("are matched with the invoice that was issued again after one of that number was rejected", async () => {
    const rejected: Invoice = { ...INVOICE, id: "p0", status: "rejected", total: "1000" };
    const payment: Payment = { id: "b1", code: "SI-1", amount: "1160" };
    expect(await kindsFound([rejected, INVOICE], [payment])).toEqual([]);
    expect(await kindsFound([rejected, INVOICE], [{ ...payment, amount: "1000" }])).toEqual([
      ["paid-another-amount", "p1"],
    ]);
  });

  it("list the invoices that count where a payment fits several, and say that none counts where all were rejected", async () => {
    const rejected: Invoice = { ...INVOICE, id: "p0", status: "rejected" };
    const payment: Payment = { id: "b1", code: "SI-1", amount: "1160" };
    const severalOf = async (...invoices: Invoice[]) => {
      const { business, accounting } = await books(invoices, [payment]);
      await test.ledger.reconciliation.holdPayments(business, { accounting, rule: RULE }, runOf(1));
      return (await test.ledger.reconciliation.findings(business, 10)).first;
    };
    expect(await severalOf(rejected, INVOICE, { ...INVOICE, id: "p2" })).toMatchObject([
      {
        kind: "payment-of-several",
        reason: expect.stringMatching(/more than one supplier invoice: p1, p2\.$/),
        nextStep: expect.stringContaining("have the other one rejected"),
      },
    ]);
    expect(await severalOf(rejected, { ...rejected, id: "p2" })).toMatchObject([
      {
        kind: "payment-of-several",
        reason: expect.stringMatching(/more than one rejected supplier invoice: p0, p2\.$/),
        nextStep: expect.stringContaining("Where all were rejected, ask for the money back"),
      },
    ]);
  });

  it("are not compared before the ledger has read all of both", async () => {
    const business = someBusiness();
    const accounting = `acc-${business.businessId}`;
    await rowsOf({ business, accounting }, [INVOICE], [{ id: "b1", code: "SI-2", amount: "1" }]);
    const hold = (n: number) => test.ledger.reconciliation.holdPayments(business, { accounting, rule: RULE }, runOf(n));
    expect(await hold(1)).toMatchObject({
      why: "not-synchronised",
      reason: `The ledger does not have all supplier invoices of the business, nor all bill payments of connection ${accounting}.`,
      nextStep: `Synchronise first: fiscalflow purchases sync --wait; fiscalflow bill-payments sync --connection ${accounting} --wait. Where that does not help, \`fiscalflow doctor\` names the rows that cannot be read: ask the provider.`,
    });
    // A window of days, and a full reading whose passes did not agree, are not all.
    await syncsOf(business, accounting, "window", false);
    expect(await hold(2)).toMatchObject({ kind: "not-compared" });
    expect(await found(business)).toEqual([]);

    await syncsOf(business, accounting, "recent");
    const before = Date.now();
    const compared = await hold(3);
    expect(compared).toMatchObject({ kind: "compared", accounting });
    expect((await found(business)).map(([kind]) => kind)).toEqual(["not-paid", "payment-without-invoice"]);
    if (compared.kind !== "compared") throw new Error("It was not compared.");
    const ages = [compared.invoicesAsOfMs, compared.paymentsAsOfMs].map((asOfMs) => Math.abs(before - asOfMs));
    expect(Math.max(...ages)).toBeLessThan(60_000);

    // Nor if the latest lacks a row that could not be read, or its ground does; also if it did not settle for that.
    const leaveOut = (connection: string, leftOut: string) =>
      test.outside.query(
        `update syncs set left_out = $3 where sync_id in (select sync_id from syncs
           where business_id in ($1, '-') and connection = $2 order by started_at desc limit 1)`,
        [business.businessId, connection, leftOut],
      );
    await syncsOf(business, accounting, "recent", false);
    await leaveOut(`accounting/${accounting}`, '{"latest": 1}');
    expect(await hold(4)).toMatchObject({ kind: "not-compared" });
    await syncsOf(business, accounting, "recent");
    expect(await hold(5)).toMatchObject({ kind: "compared" });
    await leaveOut("default", '{"all": 1}');
    expect(await hold(6)).toMatchObject({ kind: "not-compared" });
  });

  describe("of several businesses whose bills one accounting connection pays", () => {
    /** What is found of each business, one invoice or more each, all held against the same payments. */
    async function foundOf(invoices: Invoice[][], payments: Payment[], rule: Partial<PaymentRule> = {}) {
      const businesses = invoices.map(() => someBusiness());
      const accounting = `acc-${randomUUID()}`;
      for (const [index, business] of businesses.entries()) {
        await syncsOf(business, accounting);
        await rowsOf({ business, accounting }, invoices[index] ?? [], index === 0 ? payments : []);
      }
      const ofAll = { ...RULE, ...rule };
      const served = businesses.map(({ businessId }) => businessId);
      const payers = [{ connection: "default", businesses: served, rule: ofAll }];
      for (const business of businesses)
        await test.ledger.reconciliation.holdPayments(business, { accounting, rule: ofAll, payers }, runOf(1));
      return await Promise.all(
        businesses.map(async (business) => (await found(business)).map(([kind, subject]) => [kind, subject])),
      );
    }

    const OTHERS: Invoice = { id: "p2", number: "SI-2", total: "50", supplier: "Otieno" };
    const PAID: Payment = { id: "b1", code: "SI-1", amount: "1160" };

    it.each<[string, Invoice[][], Payment[], Partial<PaymentRule>, [string, string][][]]>([
      [
        "say nothing of a payment that fits another one's invoice",
        [[INVOICE], [OTHERS]],
        [PAID, { id: "b2", code: "SI-2", amount: "50", supplier: "otieno" }],
        {},
        [[], []],
      ],
      [
        "do not count a payment of another one's supplier",
        [[INVOICE], [{ ...OTHERS, number: "SI-1" }]],
        [PAID],
        { supplier: "any" },
        [[], [["not-paid", "p2"]]],
      ],
      [
        "say nothing where a payment fits the invoices of two alike",
        [[INVOICE], [{ ...INVOICE, id: "p2" }]],
        [PAID, { ...PAID, id: "b2" }],
        {},
        [[], []],
      ],
      [
        "say nothing of an invoice for which only a part is known to have been paid",
        [[INVOICE], [{ ...OTHERS, number: "SI-1" }]],
        [
          { ...PAID, amount: "1000" },
          { ...PAID, id: "b2", amount: "160", supplier: "Wanjiru" },
        ],
        { supplier: "any" },
        [[], []],
      ],
      [
        "take what was rejected for another one's, if that has one of the number which was not",
        [[{ ...INVOICE, status: "rejected" }], [{ ...INVOICE, id: "p2" }]],
        [PAID],
        {},
        [[], []],
      ],
      [
        "leave another supplier's number to the one that has it",
        [[INVOICE], []],
        [{ ...PAID, supplier: "Otieno" }],
        {},
        [[["payment-of-other-supplier", "b1"]], []],
      ],
      [
        "all show what is none of theirs",
        [[], []],
        [PAID, { ...PAID, id: "b2", code: null }],
        {},
        Array.from({ length: 2 }, () => [
          ["payment-without-invoice", "b1"],
          ["payment-without-number", "b2"],
        ]),
      ],
    ])("%s", async (_what, invoices, payments, rule, expected) => {
      expect(await foundOf(invoices, payments, rule)).toEqual(expected);
    });

    it("look for the number where the other connection's rule has it", async () => {
      const [own, other] = [someBusiness(), { ...someBusiness(), connection: "shop" }];
      const accounting = `acc-${randomUUID()}`;
      await syncsOf(own, accounting);
      await syncsOf(other, accounting);
      await rowsOf({ business: other, accounting }, [INVOICE], []);
      const payment = { billPaymentCode: "SI-1", supplierRef: { name: "Mama Mboga Ltd" }, totalAmount: 1160 };
      await pay(accounting, "b1", { ...payment, currency: "KES" });
      const payers = [
        { connection: "default", businesses: [own.businessId], rule: RULE },
        {
          connection: "shop",
          businesses: "any" as const,
          rule: { ...RULE, invoiceNumberIn: "billPaymentCode" as const },
        },
      ];
      const rest = await test.ledger.reconciliation.holdPayments(own, { accounting, rule: RULE, payers }, runOf(1));
      expect(rest).toMatchObject({ kind: "compared" });
      expect(await found(own)).toEqual([]);
    });

    it("are not compared before the ledger has all invoices of each", async () => {
      const { business, accounting } = await books([], [PAID]);
      const payers = [{ connection: "default", businesses: [business.businessId, "biz_late"], rule: RULE }];
      const against = { accounting, rule: RULE, payers };
      expect(await test.ledger.reconciliation.holdPayments(business, against, runOf(1))).toMatchObject({
        why: "not-synchronised",
        reason: `The ledger does not have all supplier invoices of the business biz_late, whose bills connection ${accounting} pays too.`,
        nextStep: expect.stringContaining(
          "fiscalflow purchases sync --connection default --business biz_late --wait",
        ) as string,
      });
      expect(await found(business)).toEqual([]);
    });
  });

  it("follow the rule: another field, any supplier, another currency", async () => {
    const other: Payment[] = [{ id: "b1", code: "SI-1", amount: "1160", supplier: "Otieno", currency: "USD" }];
    expect(await kindsFound([INVOICE], other, { supplier: "any", currency: "USD" })).toEqual([]);
    expect(await kindsFound([INVOICE], other, { invoiceNumberIn: "billPaymentCode" })).toEqual([
      ["not-paid", "p1"],
      ["payment-without-number", "b1"],
    ]);
  });

  it("are told with amounts as they are written everywhere else", async () => {
    const { business, accounting } = await books(
      [{ ...INVOICE, total: "9200" }],
      [
        { id: "b1", code: "SI-1", amount: "1000.5" },
        { id: "b2", code: "SI-9", amount: "12500" },
      ],
    );
    // As people know it: by its own code, where it has one.
    const named = {
      billPaymentCode: "PMT-7",
      billRef: { billCode: "SI-8" },
      supplierRef: { name: "Otieno" },
      totalAmount: 5,
      currency: "KES",
    };
    await pay(accounting, "b3", named);
    await test.ledger.reconciliation.holdPayments(business, { accounting, rule: RULE }, runOf(1));
    const { first } = await test.ledger.reconciliation.findings(business, 10);
    expect(first.map(({ reason }) => reason)).toEqual([
      "The supplier invoice SI-1 of Mama Mboga Ltd. is 9,200.00 KES, and 1,000.50 KES was paid.",
      "The payment b2 of MAMA MBOGA LTD, 12,500.00 KES, is for SI-9, and the tax authority holds no supplier invoice of that number.",
      "The payment PMT-7 (b3) of Otieno, 5.00 KES, is for SI-8, and the tax authority holds no supplier invoice of that number.",
    ]);
  });

  it("are reported as one finding since its first time, until they match", async () => {
    const { business, accounting } = await books([INVOICE, { ...INVOICE, id: "p2", number: "SI-2" }], []);
    const hold = (n: number) => test.ledger.reconciliation.holdPayments(business, { accounting, rule: RULE }, runOf(n));
    await hold(1);
    const before = await test.ledger.reconciliation.findings(business, 10);
    await hold(2);
    expect(await test.ledger.reconciliation.findings(business, 10)).toEqual(before);
    await rowsOf({ business, accounting }, [], [{ id: "b1", code: "SI-1", amount: "1160" }]);
    await hold(3);
    expect((await found(business)).map(([, subject]) => subject)).toEqual(["p2"]);
    expect(before).toMatchObject({ count: 2, byKind: { "not-paid": 2 } });
  });

  it("are written in pieces, however many they are", async () => {
    const { business, accounting } = await books([], []);
    const hold = (n: number) => test.ledger.reconciliation.holdPayments(business, { accounting, rule: RULE }, runOf(n));
    await test.outside.query(
      `insert into bill_payments (connection, business_id, id, body, changed_at, observed_at, event_number, workflow_id, run_id)
       select 'accounting/' || $1, '-', 'b' || n, '{"billRef": {"billCode": "SI-9"}}', now(), now(), 1, 'w', 'r'
       from generate_series(1, 1100) as n`,
      [accounting],
    );
    const transactions = async () => {
      const { rows } = await test.outside.query(
        `select kind, count(*)::int, count(distinct xmin::text)::int as transactions
         from events where business_id = $1 group by kind order by kind`,
        [business.businessId],
      );
      return rows.map(({ kind, count, transactions }) => [kind, count, transactions]);
    };
    await hold(1);
    await hold(2);
    expect(await transactions()).toEqual([["finding-raised", 1_100, 3]]);
    await test.outside.query("update bill_payments set missing_since = now() where connection = 'accounting/' || $1", [
      accounting,
    ]);
    await hold(3);
    expect(await transactions()).toEqual([
      ["finding-gone", 1_100, 3],
      ["finding-raised", 1_100, 3],
    ]);
    expect(await found(business)).toEqual([]);
  });
});
