import { expect } from "vitest";

import {
  MAIN_TASK_QUEUE,
  type Purchase,
  type SyncPurchasesInput,
  type SyncPurchasesOutcome,
  syncPurchasesWorkflowId,
} from "../../src/contract/index.ts";
import type { KeptEntry, Ledger } from "../../src/ledger/index.ts";
import type { NewPurchase, Simulator } from "../../src/dev/simulator/index.ts";
import type { Rig } from "./start-rig.ts";
import { BUSINESS } from "./views-of.ts";

/** The n-th supplier invoice: three a day, from the first of January 2020 on. */
export function purchaseOf(n: number, more: Partial<NewPurchase> = {}): NewPurchase {
  const total = 116 + n;
  return {
    id: `pur_${String(n).padStart(6, "0")}`,
    businessId: "biz_1",
    status: "confirmed",
    supplier: { name: `Mill ${n % 7}`, pin: `P00000000${n % 7}M` },
    supplierInvoiceNumber: `S-${n}`,
    invoiceDate: dayOf(n),
    totals: { subtotal: 100, vat: 16, total },
    lines: [{ description: "Flour", quantity: 1, unitPrice: 100, taxRate: 16, taxAmount: 16, total: 116 }],
    ...more,
  };
}

export function dayOf(n: number): string {
  return new Date(Date.UTC(2020, 0, 1 + Math.floor(n / 3))).toISOString().slice(0, 10);
}

/** As the API shows them, by id. */
export function listedBy(simulator: Simulator): Purchase[] {
  return simulator
    .purchases()
    .filter(({ stored }) => stored)
    .map(({ businessId: _businessId, stored: _stored, ...purchase }) => purchase)
    .toSorted(byId);
}

/** What the ledger holds and does not miss, by id. */
export async function keptBy(ledger: Ledger): Promise<Purchase[]> {
  const kept: KeptEntry<Purchase>[] = [];
  for (let page: KeptEntry<Purchase>[] | undefined; page === undefined || page.length > 0;) {
    page = await ledger.purchases.page(BUSINESS, { afterId: kept.at(-1)?.entry.id, most: 1_000 });
    kept.push(...page);
  }
  return kept
    .filter(({ missingSinceMs }) => missingSinceMs === null)
    .map(({ entry }) => entry)
    .toSorted(byId);
}

/**
 * What the suites of the synchronisation do.
 * @param rig asked when it is needed: a suite's helpers are there before its rig
 */
export function syncsOf(rig: () => Rig) {
  const workflowId = syncPurchasesWorkflowId(BUSINESS);
  const start = (input: SyncPurchasesInput = {}) =>
    rig().client.workflow.start<(input: SyncPurchasesInput) => Promise<SyncPurchasesOutcome>>("syncPurchases", {
      workflowId,
      taskQueue: MAIN_TASK_QUEUE,
      args: [input],
    });
  return {
    workflowId,
    start,
    sync: async (input: SyncPurchasesInput = {}): Promise<SyncPurchasesOutcome> => (await start(input)).result(),
    expectEqual: async (): Promise<void> => expect(await keptBy(rig().ledger)).toEqual(listedBy(rig().simulator)),
  };
}

function byId(a: Purchase, b: Purchase): number {
  return a.id < b.id ? -1 : 1;
}
