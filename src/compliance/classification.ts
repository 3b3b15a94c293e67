import type { AttentionCode } from "../contract/attention.ts";

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
