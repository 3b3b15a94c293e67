import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";

import { type JobState, type SyncProgress, STATE_QUERY, UPDATES } from "../../src/contract/index.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { dayOf, keptBy, listedBy, purchaseOf, syncsOf } from "../rig/purchases.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";
import { BUSINESS } from "../rig/views-of.ts";

const COUNT = 700;

/** All that a history holds, its payloads as what they say. */
function textOf(history: unknown): string {
  if (history instanceof Uint8Array) return Buffer.from(history).toString("utf8");
  if (typeof history !== "object" || history === null) return String(history);
  return Object.values(history).map(textOf).join("\n");
}

describeWithTemporal("a full synchronisation of purchases", () => {
  let rig: Rig;
  beforeAll(async () => {
    const purchases = Array.from({ length: COUNT }, (_, n) => purchaseOf(n));
    rig = await startRig({ simulator: { scenario: { purchases } }, receiver: false });
    await sync();
  });
  afterAll(() => rig?.close());
  beforeEach(() => rig.simulator.clearFaults());

  const { workflowId, start, sync, expectEqual } = syncsOf(() => rig);

  test("finds old purchases that have changed, and those that are gone", async () => {
    rig.simulator.updatePurchase(purchaseOf(9).id, { totals: { subtotal: 1, vat: 0, total: 1 } });
    rig.simulator.removePurchase(purchaseOf(10).id);
    expect(await sync()).toMatchObject({ changed: 0 });
    const { findings, changed } = await sync({ full: true });
    expect(changed).toBe(1);
    expect(findings.missing.first).toContain(purchaseOf(10).id);
    await expectEqual();
  });

  test("misses nothing while purchases are added, changed and moved", async () => {
    const { simulator } = rig;
    const handle = await start({ full: true });
    let pages = 0;
    const reading = handle.result();
    for (let n = 0; n < 6; n++) {
      const before = pages;
      await simulator.until(() => simulator.calls({ operation: "listPurchases" }).length > before);
      pages = simulator.calls({ operation: "listPurchases" }).length;
      // From behind the reader to in front of it.
      simulator.updatePurchase(purchaseOf(20 + n).id, { invoiceDate: `2026-02-0${n + 1}` });
      simulator.addPurchase(
        purchaseOf(2_000 + n, { id: `pur_meanwhile_${n}`, invoiceDate: dayOf(n), status: "pulled" }),
      );
    }
    await reading;
    await sync({ full: true });
    expect(await keptBy(rig.ledger)).toEqual(listedBy(rig.simulator));
  });

  test("restarts a pass where the service refuses its cursor", async () => {
    rig.simulator.resetCalls();
    const body = { error: { code: "invalid_request", message: "cursor is not a cursor of this list" } };
    rig.simulator.inject({
      operation: "listPurchases",
      when: "before",
      kind: "status",
      status: 400,
      body,
      skip: 2,
      times: 1,
    });
    await sync({ full: true });
    expect(rig.simulator.calls({ operation: "listPurchases", status: 400 })).toHaveLength(1);
    await expectEqual();
  });

  test("calls an operator where the service refuses its cursor again and again, and begins the pass anew after a retry", async () => {
    const body = { error: { code: "invalid_request", message: "cursor is not a cursor of this list" } };
    // The second page of the pass, and of each of its restarts.
    for (const skip of [1, 2, 3, 4]) {
      const fault = { operation: "listPurchases", when: "before", kind: "status", status: 400 } as const;
      rig.simulator.inject({ ...fault, body, skip, times: 1 });
    }
    rig.simulator.resetCalls();
    const handle = await start({ full: true });
    const shown = async () => (await handle.query<JobState<SyncProgress>>(STATE_QUERY)).attentions;
    await expect.poll(shown).toMatchObject([{ code: "invalid-request" }]);
    expect(rig.simulator.calls({ operation: "listPurchases" })).toHaveLength(8);
    await handle.executeUpdate(UPDATES.retry, { args: [{ note: "they have mended it" }] });
    await handle.result();
    // A cursor that has expired never becomes good again.
    const after = rig.simulator.calls({ operation: "listPurchases" })[8];
    expect(after).toMatchObject({ status: 200, query: expect.not.objectContaining({ cursor: expect.anything() }) });
    await expectEqual();
  });

  test("writes rows that name its workflow, and keeps them out of its history", async () => {
    const handle = await start({ full: true });
    await handle.result();
    const text = textOf(await handle.fetchHistory());
    expect(text).toContain("nextCursor");
    expect(text).not.toContain("supplierInvoiceNumber");
    // A few findings name their invoices; what an invoice says is nowhere.
    expect(text).not.toContain("unitPrice");
    const [first] = await rig.ledger.purchases.page(BUSINESS, { most: 1 });
    expect(first?.writer.workflowId).toBe(workflowId);
  });
});
