import type { CallCounts, CallEntry } from "./call-log.ts";
import type { CallbackAttempt } from "./callback-sender.ts";
import type { DocumentRecord, Sale } from "./document-record.ts";
import type { FaultBooks } from "./faults.ts";
import type { KeyReuse } from "./idempotency.ts";
import type { RateWindow } from "./rate-windows.ts";
import type { Movement } from "./stock.ts";
import type { RejectionWithoutDocument, World } from "./world.ts";

/** A document as the API shows it, and what only the simulator knows about it. */
export interface DocumentBooks extends Sale {
  businessId: string;
  branchId: string;
  /** Null when it was issued elsewhere. */
  application: string | null;
  idempotencyKey: string | null;
  reason: string | null;
  createdAtMs: number;
  settledAtMs: number | null;
  /** How often it went to the authority. */
  submissions: number;
  /** Every call that made, read or resubmitted it. */
  calls: Pick<CallEntry, "atMs" | "operation" | "status" | "replayed" | "fault">[];
}

/** Everything that happened, as plain data: changing it changes nothing in the simulator. */
export interface Books {
  documents: DocumentBooks[];
  rejectionsWithoutDocument: RejectionWithoutDocument[];
  movements: Movement[];
  /** Item id → branch id → quantity. */
  stockOnHand: Record<string, Record<string, number>>;
  calls: CallCounts;
  /** The latest 100,000 calls in the order of their arrival. */
  callLog: CallEntry[];
  windows: RateWindow[];
  callbacks: CallbackAttempt[];
  faults: FaultBooks;
  keyReusedWithOtherBody: KeyReuse[];
}

export function documentBooks(record: DocumentRecord): DocumentBooks {
  return {
    ...structuredClone(record.sale),
    businessId: record.businessId,
    branchId: record.branchId,
    application: record.application,
    idempotencyKey: record.idempotencyKey,
    reason: record.reason,
    createdAtMs: record.createdAtMs,
    settledAtMs: record.settledAtMs,
    submissions: record.submissions,
    calls: record.calls.map(({ atMs, operation, status, replayed, fault }) => {
      return { atMs, operation, status, replayed, fault };
    }),
  };
}

function copies<T extends object>(entries: readonly T[]): T[] {
  return entries.map((entry) => ({ ...entry }));
}

export function readBooks(world: World): Books {
  return {
    documents: [...world.documents.all()].map(documentBooks),
    rejectionsWithoutDocument: copies(world.rejections),
    movements: copies(world.stock.movements()),
    stockOnHand: world.stock.onHand(),
    calls: world.calls.counts(),
    callLog: copies(world.calls.entries()),
    windows: copies(world.windows.list()),
    callbacks: copies(world.callbacks.attempts()),
    faults: structuredClone(world.faults.books()),
    keyReusedWithOtherBody: copies(world.idempotency.reusedWithOtherBody()),
  };
}
