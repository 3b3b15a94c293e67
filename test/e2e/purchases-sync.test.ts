import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { WorkflowFailedError } from "@temporalio/client";

import {
  type JobState,
  type Purchase,
  STATE_QUERY,
  type SyncProgress,
  type SyncPurchasesOutcome,
  UPDATES,
} from "../../src/contract/index.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { pagesOf } from "../rig/purchase-changes.ts";
import { dayOf, listedBy, purchaseOf, syncsOf } from "../rig/purchases.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";
import { BUSINESS } from "../rig/views-of.ts";

const COUNT = 700;

describeWithTemporal("the synchronisation of purchases", () => {
  let rig: Rig;
  let first: SyncPurchasesOutcome;
  beforeAll(async () => {
    const purchases = Array.from({ length: COUNT }, (_, n) => purchaseOf(n));
    rig = await startRig({ simulator: { scenario: { purchases } }, receiver: false });
    first = await sync();
  });
  afterAll(() => rig?.close());
  beforeEach(() => rig.simulator.clearFaults());

  const { workflowId, start, sync, expectEqual } = syncsOf(() => rig);
  const changesOf = async (id: string) =>
    (await rig.ledger.purchases.history(BUSINESS, id)).map(({ changes, entry }) => {
      const { status, confirmationError } = entry as Purchase;
      return [changes, status, confirmationError];
    });

  test("reads all of it the first time", async () => {
    expect(first).toMatchObject({ kind: "full", added: COUNT, changed: 0, total: COUNT });
    await expectEqual();
  });

  test("reads what is new, and stops at the known purchases", async () => {
    rig.simulator.addPurchase(purchaseOf(COUNT, { id: "pur_new", stored: false, invoiceDate: "2025-01-01" }));
    // Two pages until one of known rows alone, and one of each open status.
    expect(await sync()).toMatchObject({ kind: "recent", pages: 4, added: 1, changed: 0 });
    await expectEqual();
  });

  test("finds what is new behind a page of others that a list of a status has shown first", async () => {
    const read = pagesOf(rig.simulator);
    const syncing = sync();
    await rig.simulator.until(() => pagesOf(rig.simulator) > read);
    // The list of all has been read by now: the next one is that of the open ones.
    rig.simulator.addPurchase(purchaseOf(COUNT + 1, { id: "pur_behind" }));
    for (let n = COUNT + 100; n < COUNT + 200; n++) rig.simulator.addPurchase(purchaseOf(n, { status: "pulled" }));
    expect(await syncing).toMatchObject({ added: 100 });
    expect(await sync()).toMatchObject({ kind: "recent", added: 1 });
    await expectEqual();
  });

  test("keeps each status and each confirmation error, also of an old invoice", async () => {
    const { id } = purchaseOf(5);
    rig.simulator.updatePurchase(id, { status: "pending_review", confirmationError: "No such item" });
    const { byStatus, findings } = await sync();
    expect(byStatus).toMatchObject({ pending_review: 1 });
    expect(findings.confirmationErrors).toEqual({
      count: 1,
      first: [{ purchaseId: id, supplierInvoiceNumber: "S-5", confirmationError: "No such item" }],
    });
    rig.simulator.updatePurchase(id, { status: "rejected", confirmationError: null });
    // It is open no more, so only the list of its day tells what it is.
    expect(await sync()).toMatchObject({ changed: 1 });
    expect(await changesOf(id)).toEqual([
      [["first-seen"], "confirmed", null],
      [["content"], "pending_review", "No such item"],
      [["content"], "rejected", null],
    ]);
    await expectEqual();
  });

  test("finds the same invoice of the same supplier under two ids", async () => {
    const { supplier, supplierInvoiceNumber } = purchaseOf(7);
    rig.simulator.addPurchase(
      purchaseOf(8, { id: "pur_twice", supplier, supplierInvoiceNumber, invoiceDate: "2025-01-02" }),
    );
    expect((await sync()).findings.duplicates).toEqual({
      count: 1,
      first: [{ supplierPin: supplier.pin, supplierInvoiceNumber, purchaseIds: [purchaseOf(7).id, "pur_twice"] }],
    });
    rig.simulator.removePurchase("pur_twice");
  });

  test("from a day on reads that day and all later ones, and nothing else", async () => {
    const from = dayOf(COUNT + 190);
    const late = listedBy(rig.simulator).filter(({ invoiceDate }) => invoiceDate >= from);
    expect(await sync({ from })).toMatchObject({ kind: "window", rows: late.length, pages: 1 });
  });

  test("waits for the key, and goes on where it was", async () => {
    rig.simulator.setKey("cmp_sk_test_simulator", { scopes: ["sales:read"] });
    const handle = await start();
    const state = await stateWhen(({ attentions }) => attentions.length > 0);
    expect(state.attentions[0]).toMatchObject({ code: "credentials", resolvedBy: ["retry"] });
    rig.simulator.setKey("cmp_sk_test_simulator", {
      scopes: ["sales:read", "sales:write", "stock:write", "catalog:read", "catalog:write", "purchases:read"],
    });
    await handle.executeUpdate(UPDATES.retry, { args: [{ note: "scope added" }] });
    await handle.result();
  });

  test("fails once, and for good, for wrong input", async () => {
    const failing = sync({ from: "yesterday" });
    await expect(failing).rejects.toBeInstanceOf(WorkflowFailedError);
    await expect(failing).rejects.toMatchObject({ cause: { type: "InvalidInput" } });
  });

  async function stateWhen(wanted: (state: JobState<SyncProgress>) => boolean): Promise<JobState<SyncProgress>> {
    const handle = rig.client.workflow.getHandle(workflowId);
    let state: JobState<SyncProgress> | undefined;
    await expect
      .poll(async () => {
        state = await handle.query<JobState<SyncProgress>>(STATE_QUERY);
        return wanted(state);
      })
      .toBe(true);
    if (!state) throw new Error("no state");
    return state;
  }
});
