import { afterAll, beforeAll, expect, test } from "vitest";

import type { OutsideClient } from "../../src/ledger/test-support/outside-client.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { reconcileOf, type ReconcilingRig, startReconcilingRig } from "../rig/reconcile.ts";
import { salesOf } from "../rig/sales-of.ts";
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
  const { start, result } = salesOf(() => rig);
  const reconcile = reconcileOf(() => rig);

  const readsOf = (invoice: string): number => rig.callsOf(invoice).filter((call) => call === "readSale").length;

  test("reads each document until it is final and equal, and reports the differences", async () => {
    const numbers = Array.from({ length: 23 }, (_, n) => `REC-${n}`);
    await Promise.all(numbers.map((number) => start(number, { stock: "off" })));
    for (const number of numbers) await result(number);
    const change = async (number: string, from: string, to: string): Promise<void> => {
      const text = "update documents set document = replace(document::text, $2, $3)::jsonb where number = $1";
      await outside.query(text, [number, from, to]);
      const { rows } = await outside.query(
        "select 1 from documents where number = $1 and strpos(document::text, $2) > 0",
        [number, to],
      );
      expect(rows).toHaveLength(1);
    };
    const total = (was: number, is: number): Promise<void> =>
      change(
        "REC-1",
        `"totals": {"total": ${was}, "taxAmount": 96.55, "taxableAmount": 603.45}`,
        `"totals": {"total": ${is}, "taxAmount": 96.55, "taxableAmount": 603.45}`,
      );
    await total(700, 700.02);
    const [sale] = rig.simulator.documents("REC-2");
    await change("REC-2", sale?.id ?? "", "sale_gone");
    await outside.query("update documents set document_id = 'sale_gone' where number = 'REC-2'");

    const [unreadable] = rig.simulator.documents("REC-3");
    const match = { saleId: unreadable?.id ?? "" };
    rig.simulator.inject({ operation: "readSale", when: "before", kind: "status", status: 400, match });

    // A sale whose callback took its time was read by itself too.
    const before = new Map(numbers.map((number) => [number, readsOf(number)]));
    const readsSince = (invoice: string): number => readsOf(invoice) - (before.get(invoice) ?? 0);
    const first = await reconcile();
    expect(first).toMatchObject({ documents: 23, final: 20, differing: 2, unreadable: 1, skipped: 0 });
    expect(first.findings.byKind).toEqual({ "document-differs": 1, "document-not-there": 1, "document-unreadable": 1 });
    expect(first.findings.first).toMatchObject([
      { kind: "document-differs", reason: expect.stringContaining("the total is 700.00, in the ledger 700.02") },
      { kind: "document-not-there", subject: "sale_gone" },
      { kind: "document-unreadable", subject: unreadable?.id },
    ]);
    rig.simulator.clearFaults();
    expect(numbers.map(readsSince)).toEqual(numbers.map((number) => (number === "REC-2" ? 0 : 1)));

    await total(700.02, 700);
    const second = await reconcile();
    expect(second).toMatchObject({ documents: 3, final: 2, differing: 1, unreadable: 0, skipped: 20 });
    expect(second.findings.byKind).toEqual({ "document-not-there": 1 });
    expect([readsSince("REC-3"), readsSince("REC-4")]).toEqual([2, 1]);
    expect(second.payments).toMatchObject({ kind: "not-compared", why: "not-synchronised" });
  });
});
