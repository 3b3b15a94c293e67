import { randomUUID } from "node:crypto";

import type { CompleteSyncRequest, Purchase, Sync, SyncKind } from "../../contract/index.ts";
import type { KeepPageRequest, KeptPage, Ledger } from "../index.ts";

export const PURCHASES_WRITER = { workflowId: "sync-purchases/default/biz", runId: "run-1" };

export function purchaseOf(id: string, more: Partial<Purchase> = {}): Purchase {
  return {
    id,
    status: "pulled",
    supplier: { name: "Mill", pin: `P-${id}` },
    supplierInvoiceNumber: `S-${id}`,
    invoiceDate: "2026-11-01",
    branch: "Main",
    totals: { subtotal: 100.1, vat: 16.02, total: 116.12 },
    lines: [],
    confirmationError: null,
    ...more,
  };
}

/** A business of its own, and what a synchronisation does to it. */
export function businessWithPurchases({ purchases }: Pick<Ledger, "purchases">) {
  const scope = { connection: "default", businessId: randomUUID() };
  const sync = (kind: SyncKind): Sync => ({ collection: "purchases", ...scope, syncId: randomUUID(), kind });
  const keep = async (list: Purchase[], more: Partial<KeepPageRequest<Purchase>> = {}): Promise<KeptPage> =>
    purchases.keepPage({
      ...scope,
      entries: list,
      askedAtMs: await purchases.now(),
      writer: PURCHASES_WRITER,
      ...more,
    });
  const kept = () => purchases.page(scope, { most: 1_000 });
  const changesOf = async (id: string) => (await purchases.history(scope, id)).flatMap(({ changes }) => changes);
  const complete = (one: Sync, end: Partial<CompleteSyncRequest> = {}) =>
    purchases.complete({ ...one, settled: true, leftOut: {}, withStatuses: false, ...end }, PURCHASES_WRITER);
  return { scope, sync, keep, complete, kept, changesOf };
}
