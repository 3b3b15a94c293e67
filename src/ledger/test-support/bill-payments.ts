import { randomUUID } from "node:crypto";

import type { BillPayment, BillPaymentStatus, CompleteSyncRequest, Sync, SyncKind } from "../../contract/index.ts";
import type { Ledger } from "../index.ts";
import { verified } from "./verified.ts";

export const SYNC_WRITER = { workflowId: "sync-bill-payments/default", runId: "run-1" };

export function billPayment(id: string, more: Partial<BillPayment> = {}): BillPayment {
  return {
    id,
    totalAmount: 1250.1,
    currency: "KES",
    createdAt: "2026-11-01T08:00:00.000Z",
    updatedAt: "2026-11-01T08:00:00.000Z",
    ...more,
  };
}

interface Look {
  askedAtMs?: number;
  status?: BillPaymentStatus | undefined;
  knownUntilMs?: number;
}

/** An accounting connection that no other test has, and what a synchronisation does to it. */
export function someConnection(ledger: Pick<Ledger, "billPayments" | "verify">) {
  const { billPayments } = ledger;
  const name = randomUUID().slice(4);
  const chain = { connection: `accounting/${name}`, businessId: "-" };
  return {
    name,
    keep: async (rows: BillPayment[], { askedAtMs, ...look }: Look = {}) => {
      const at = askedAtMs ?? (await billPayments.now());
      const page = { connection: name, entries: rows, askedAtMs: at, writer: SYNC_WRITER, ...look };
      return await billPayments.keepPage(page);
    },
    all: () => billPayments.page({ connection: name }, { most: 1_000 }),
    sync: (kind: SyncKind): Sync => ({ collection: "billPayments", connection: name, syncId: randomUUID(), kind }),
    complete: (sync: Sync, end: Partial<CompleteSyncRequest> = {}) =>
      billPayments.complete({ ...sync, settled: true, leftOut: {}, withStatuses: true, ...end }, SYNC_WRITER),
    changesOf: async (id: string) =>
      (await billPayments.history({ connection: name }, id)).flatMap(({ changes }) => changes),
    verify: () => verified(ledger, chain),
  };
}
