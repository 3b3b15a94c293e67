import type { AttentionCode } from "../contract/names.ts";
import type { Item, StockAdjustment } from "../contract/documents.ts";
import { TransportError } from "../http/errors.ts";
import type { SeenItem, SeenSale } from "./error-envelope.ts";
import {
  type AnswerMeta,
  ComplianceApiError,
  ComplianceInputError,
  metaOfBroken,
  retryAfterMsOf,
  UnexpectedAnswerError,
} from "./errors.ts";
import type { OperationName } from "./operations.ts";

/** How one call ended, reduced to what decides. */
export type Outcome =
  | AnswerOutcome
  /** The client refused the call as asked. */
  | { kind: "refused-locally" }
  /** Not a byte left. `retryAfterMs`: the budget kept it back for that long. */
  | { kind: "not-sent" }
  | { kind: "held-back"; retryAfterMs?: number | undefined }
  /** Bytes may have left, and no whole answer came. */
  | { kind: "lost" };

export interface AnswerOutcome {
  kind: "answer";
  status: number;
  /** A success whose status and body are as the document says. */
  documented: boolean;
  /** The service's own error envelope. */
  envelope: boolean;
  apiCode?: string | undefined;
  retryAfterMs?: number | undefined;
  /** The document that the body names, in a success or beside an error. */
  sale?: SeenSale | undefined;
  creditNoteId?: string | undefined;
  item?: SeenItem | undefined;
  /** The statuses of a stock movement's report; absent where the answer has none under the dialect's name. */
  report?: StockAdjustment["report"] | undefined;
}

/** The outcome of a call that threw. What is not one of the client's errors counts as lost: bytes may have left. */
export function outcomeOfError(operation: OperationName, error: unknown): Outcome {
  if (error instanceof ComplianceInputError) return { kind: "refused-locally" };
  if (error instanceof TransportError) return outcomeOfTransportError(operation, error);
  if (error instanceof UnexpectedAnswerError) {
    const { documentId } = error;
    return {
      kind: "answer",
      status: error.status,
      documented: false,
      envelope: false,
      sale: documentId === undefined ? undefined : { id: documentId },
    };
  }
  if (!(error instanceof ComplianceApiError)) return { kind: "lost" };
  return {
    kind: "answer",
    status: error.status,
    documented: false,
    envelope: error.envelope,
    apiCode: error.apiCode,
    retryAfterMs: retryAfterMsOf(error.meta),
    sale: error.extras.seenSale,
    creditNoteId: error.extras.creditNoteId,
    item: error.extras.seenItem,
  };
}

function outcomeOfTransportError(operation: OperationName, error: TransportError): Outcome {
  if (error.code === "held-back") return { kind: "held-back", retryAfterMs: error.retryAfterMs };
  if (error.sent === "no") return { kind: "not-sent" };
  const { answered } = error;
  // A 429 says all it has to say in its headers, so that a body that broke off takes nothing from it.
  if (answered?.status !== 429) return { kind: "lost" };
  const retryAfterMs = retryAfterMsOf(metaOfBroken(operation, answered, error.sentAtMs));
  return { kind: "answer", status: 429, documented: false, envelope: false, retryAfterMs };
}

const success = ({ status }: AnswerMeta): AnswerOutcome => {
  return { kind: "answer", status, documented: true, envelope: false };
};

export function outcomeOfItem(item: Item, meta: AnswerMeta): Outcome {
  return { ...success(meta), item: { registrationStatus: item.registrationStatus, missing: missingOf(item) } };
}

export function outcomeOfMovement(movement: StockAdjustment, meta: AnswerMeta): Outcome {
  return { ...success(meta), report: movement.report };
}

export function outcomeOfAnswer(meta: AnswerMeta): Outcome {
  return success(meta);
}

function missingOf(item: Item): string[] {
  return Object.entries(item.needs ?? {}).flatMap(([name, value]) => (value === true ? [name] : []));
}

/** What the outcome of one call means (failure model). What follows from it is for the caller to decide. */
export type Classification =
  /** As the document says. */
  | { kind: "ok" }
  /** The movement was made; its report to the tax authority is not `ok`. Never repeated. */
  | { kind: "unreported" }
  /** Kept back by the quota, so nothing happened: again after the pause, charged to nobody's bounds. */
  | { kind: "deferred"; retryAfterMs?: number | undefined }
  /** 401 or 403: the key, or what it may do. */
  | { kind: "configuration" }
  /** The service, or the client before sending, said no: nothing happened, and the same request will not do better. */
  | {
      kind: "refused";
      attention: Extract<AttentionCode, "invalid-request" | "not-found" | "stock-refused" | "item-rejected">;
    }
  /** A read: again with growing pauses. */
  | { kind: "transient" }
  /** A write that this attempt certainly did not send: again within bounds. An earlier attempt is judged on its own. */
  | { kind: "not-applied" }
  /** It may have happened, and the key makes a repetition safe: same key, equal bytes, within the key's life. */
  | { kind: "unknown-keyed"; documentId?: string | undefined }
  /** It may have happened, and a repetition could do it twice: an operator must say. */
  | { kind: "unknown"; documentId?: string | undefined }
  /** The document exists and was rejected: keep the id, then retry that document, never a new one. */
  | { kind: "rejected"; documentId?: string | undefined }
  /** 422 that names no document. `repeatable`: once more under the same key is safe. */
  | { kind: "rejected-without-trace"; repeatable: boolean }
  | { kind: "already-credited"; creditNoteId?: string | undefined }
  /** Look (read the sale, read the items) before repeating. */
  | { kind: "converging" }
  /** The item lacks data for its registration. */
  | { kind: "needs-data"; missing: readonly string[] }
  /** An answer that fits no row: never repeated blindly, never dropped. */
  | { kind: "unexpected"; documentId?: string | undefined };
