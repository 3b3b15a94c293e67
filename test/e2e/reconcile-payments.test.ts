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
      `insert into purchases (connection, business_id, id, body, changed_at, observed_at, event_number, workflow_id, run_id)
       values ('default', 'biz_1', 'pur_1', $1, now(), now(), 1, 'w', 'r')`,
      [
        JSON.stringify({
          status: "confirmed",
          supplier: { name: "Mama Mboga" },
          supplierInvoiceNumber: "SI-1",
          invoiceDate: "2026-11-01",
          totals: { subtotal: 1000, vat: 160, total: 1160 },
        }),
      ],
    );
    const pay = (id: string, totalAmount: number) =>
      outside.query(
        `insert into bill_payments (connection, business_id, id, body, changed_at, observed_at, event_number, workflow_id, run_id)
         values ('accounting/default', '-', $1, $2, now(), now(), 1, 'w', 'r')`,
        [
          id,
          JSON.stringify({
            supplierRef: { name: "MAMA MBOGA" },
            billPaymentCode: "SI-1",
            totalAmount,
            currency: "KES",
          }),
        ],
      );
    await pay("bp_1", 1000);
    await outside.query(
      `insert into syncs (sync_id, connection, business_id, kind, completed_at, settled)
       values ('p', 'default', 'biz_1', 'full', now(), true),
         ('b', 'accounting/default', '-', 'full', now(), true)`,
    );
    const found = await reconcile();
    expect(found.payments).toMatchObject({ kind: "compared", accounting: "default" });
    expect(found.findings.byKind).toMatchObject({ "paid-another-amount": 1 });
    await pay("bp_2", 160);
    expect((await reconcile()).findings.byKind).toEqual({});
  });
});
