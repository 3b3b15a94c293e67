import { afterAll, beforeAll, expect, test } from "vitest";

import type { OutsideClient } from "../../src/ledger/test-support/outside-client.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { reconcileOf, type ReconcilingRig, startReconcilingRig } from "../rig/reconcile.ts";
import type { Rig } from "../rig/start-rig.ts";

describeWithTemporal("a reconciliation", () => {
  let rig: Rig;
  let outside: OutsideClient;
  let reconciling: ReconcilingRig;
  beforeAll(async () => {
    reconciling = await startReconcilingRig();
    ({ rig, outside } = reconciling);
  });
  afterAll(() => reconciling?.close());
  const reconcile = reconcileOf(() => rig);

  test("compares supplier invoices with the payments of the accounting connection, by the rule of the configuration", async () => {
    await outside.query(
      `insert into purchases (connection, business_id, purchase_id, status, supplier_name, supplier_invoice_number, invoice_date,
         subtotal, vat, total, content_hash, body, observed_at, event_number, workflow_id, run_id)
       values ('default', 'biz_1', 'pur_1', 'confirmed', 'Mama Mboga', 'SI-1', '2026-11-01', 1000, 160, 1160, '', '{}', now(), 1, 'w', 'r')`,
    );
    const pay = (id: string, amount: string) =>
      outside.query(
        `insert into bill_payments (connection, bill_payment_id, supplier_name, bill_payment_code, total_amount, currency, content_hash, body,
           observed_at, event_number, workflow_id, run_id)
         values ('default', $1, 'MAMA MBOGA', 'SI-1', $2, 'KES', '', '{}', now(), 1, 'w', 'r')`,
        [id, amount],
      );
    await pay("bp_1", "1000");
    await outside.query(
      `insert into syncs (sync_id, collection, connection, business_id, kind, completed_at, settled)
       values ('p', 'purchases', 'default', 'biz_1', 'full', now(), true),
         ('b', 'bill_payments', 'default', '-', 'full', now(), true)`,
    );
    const found = await reconcile();
    expect(found.payments).toMatchObject({ kind: "compared", accounting: "default" });
    expect(found.findings.byKind).toMatchObject({ "paid-another-amount": 1 });
    await pay("bp_2", "160");
    expect((await reconcile()).findings.byKind).toEqual({});
    const { findings } = await reconcile({ rule: { invoiceNumberIn: "billCode" } });
    expect(findings.byKind).toEqual({ "payment-without-number": 2, "not-paid": 1 });
  });
});
