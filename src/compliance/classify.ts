import type { Item, StockAdjustment } from "../contract/documents.ts";
import type { AttentionCode } from "../contract/names.ts";
import { saysAway, TransportError } from "../http/errors.ts";
import { CallInputError, deferralOf, retryAfterMsOf, UnexpectedAnswerError } from "../http/service-call.ts";
import type { Result } from "./client.ts";
import type { ComplianceDialect } from "./dialect.ts";
import type { SeenItem, SeenSale } from "./answers.ts";
import { ComplianceApiError } from "./errors.ts";
import type { OperationName } from "./operations.ts";

/** How one call ended, reduced to what decides. */
export type Outcome =
  | AnswerOutcome
  /** The client refused the call as asked. */
  | { kind: "refused-locally" }
  /** Not a byte left. */
  | { kind: "not-sent" }
  /** The budget kept it back for that long, or a 429 came without its body. */
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

/** What a classification depends on besides the outcome. */
export interface ClassificationRules {
  saleKey: ComplianceDialect["createSale"]["idempotencyKey"];
  alreadyCredited: string | null;
  /** registerItem: `force` was asked for. */
  forceAsked: boolean;
}

/** Rows of the failure model, in its order. Undefined: none of them describes the outcome. */
type Rows = (outcome: Outcome, rules: ClassificationRules) => Classification | undefined;

const OK: Classification = { kind: "ok" };
const NOT_APPLIED: Classification = { kind: "not-applied" };

/** Lost on the way, or a server that could not: whatever was asked for may have happened. */
function isTrouble(outcome: Outcome): boolean {
  return outcome.kind === "lost" || (outcome.kind === "answer" && saysAway(outcome.status));
}

/** The same, or a success whose body, or whose very status, is not what the document says. */
function isTroubleOrUnreadable(outcome: Outcome): boolean {
  const isUnreadable =
    outcome.kind === "answer" && !outcome.documented && outcome.status >= 200 && outcome.status <= 299;
  return isTrouble(outcome) || isUnreadable;
}

/** The service's own word that the request cannot be carried out. */
function isRejection(outcome: Outcome): outcome is AnswerOutcome & { status: 422 } {
  return outcome.kind === "answer" && outcome.status === 422 && outcome.envelope;
}

/** Nothing was asked for, or nothing happened: refused by the client, kept back by the budget, 429. */
const unasked: Rows = (outcome) => {
  if (outcome.kind === "refused-locally") return { kind: "refused", attention: "invalid-request" };
  const isHeldBack = outcome.kind === "held-back" || (outcome.kind === "answer" && outcome.status === 429);
  return isHeldBack ? { kind: "deferred", retryAfterMs: outcome.retryAfterMs } : undefined;
};

/** "Any call", for all but the stock adjustment, which believes no 4xx without the envelope. */
const anyCall: Rows = (outcome, rules) => {
  if (outcome.kind !== "answer") return unasked(outcome, rules);
  const { status, envelope, documented } = outcome;
  if (status === 401 || status === 403) return { kind: "configuration" };
  if (status === 400 && envelope) return { kind: "refused", attention: "invalid-request" };
  if (status === 404) return { kind: "refused", attention: "not-found" };
  return documented ? OK : unasked(outcome, rules);
};

/**
 * Any status but a redirect: a body that is no envelope is not what the document says, and reading again harms nobody.
 */
const read: Rows = (outcome, rules) => {
  const isUnread =
    outcome.kind === "not-sent" ||
    isTroubleOrUnreadable(outcome) ||
    (outcome.kind === "answer" && outcome.status >= 400 && !outcome.envelope);
  return anyCall(outcome, rules) ?? (isUnread ? { kind: "transient" } : undefined);
};

/** Looked at before it is repeated. */
const converging: Rows = (outcome) => {
  if (outcome.kind === "not-sent") return NOT_APPLIED;
  return isTroubleOrUnreadable(outcome) ? { kind: "converging" } : undefined;
};

/** Rows of a write that makes a document, once those of any call do not speak. */
function creation(type: "sale" | "credit_note", outcome: Outcome, rules: ClassificationRules): Classification {
  const isTrusted = type === "credit_note" || rules.saleKey === "trusted";
  const sale = outcome.kind === "answer" ? outcome.sale : undefined;
  // Beside an error of a credit note, `sale` could as well be the sale that it reverses: only a credit note is ours
  // there, and only a sale where a sale was asked for.
  const isOwn = sale && (sale.type ?? (sale.originalSaleId === undefined ? "sale" : "credit_note")) === type;
  if (isRejection(outcome))
    return isOwn
      ? { kind: "rejected", documentId: sale.id }
      : { kind: "rejected-without-trace", repeatable: isTrusted };
  if (outcome.kind === "not-sent") return NOT_APPLIED;
  // What a success holds was made by the call, whatever else is wrong with it.
  const isKept = isOwn || (outcome.kind === "answer" && outcome.status < 300);
  const documentId = isKept ? sale?.id : undefined;
  if (!isTrusted) return { kind: "unknown", documentId };
  // What fits no row could be repeated safely under the key, but only an operator asks for it.
  return { kind: isTroubleOrUnreadable(outcome) ? "unknown-keyed" : "unexpected", documentId };
}

const createSale: Rows = (outcome, rules) => anyCall(outcome, rules) ?? creation("sale", outcome, rules);

const createCreditNote: Rows = (outcome, rules) => {
  const known = anyCall(outcome, rules);
  if (known) return known;
  if (outcome.kind === "answer" && outcome.envelope && outcome.status >= 400 && outcome.status <= 499) {
    const { creditNoteId, apiCode } = outcome;
    const isAlreadyCredited =
      creditNoteId !== undefined || (apiCode !== undefined && apiCode === rules.alreadyCredited);
    if (isAlreadyCredited) return { kind: "already-credited", creditNoteId };
  }
  return creation("credit_note", outcome, rules);
};

const retrySale: Rows = (outcome, rules) => {
  const known = anyCall(outcome, rules);
  if (known) return known;
  return isRejection(outcome) ? { kind: "rejected", documentId: outcome.sale?.id } : converging(outcome, rules);
};

const registerItem: Rows = (outcome, rules) => {
  const item = outcome.kind === "answer" ? outcome.item : undefined;
  const isRegistered = item?.registrationStatus === "REGISTERED";
  const known = anyCall(outcome, rules);
  if (known) return known.kind === "ok" && !isRegistered ? { kind: "converging" } : known;
  if (!isRejection(outcome)) return converging(outcome, rules);
  if (isRegistered && !rules.forceAsked) return OK;
  const missing = item?.missing ?? [];
  return missing.length > 0 ? { kind: "needs-data", missing } : { kind: "refused", attention: "item-rejected" };
};

/**
 * Without the envelope no 4xx but 429 is believed: a page of something in between does not say what happened behind it.
 */
const adjustStock: Rows = (outcome, rules) => {
  const known = unasked(outcome, rules);
  if (known) return known;
  if (outcome.kind === "not-sent") return NOT_APPLIED;
  if (outcome.kind !== "answer") return { kind: "unknown" };
  const { status, envelope, documented, report } = outcome;
  if (documented) {
    const isReported = report === undefined || (report.stockIo === "ok" && report.stockMaster === "ok");
    return isReported ? OK : { kind: "unreported" };
  }
  if (!envelope || status < 400 || isTrouble(outcome)) return { kind: "unknown" };
  if (status === 401 || status === 403) return { kind: "configuration" };
  return { kind: "refused", attention: "stock-refused" };
};

/** A write that the document only names is not known to be repeatable. */
const namedWrite: Rows = (outcome, rules) => {
  const known = anyCall(outcome, rules);
  if (known) return known;
  if (outcome.kind === "not-sent") return NOT_APPLIED;
  return isTroubleOrUnreadable(outcome) ? { kind: "unknown" } : undefined;
};

const ROWS: Readonly<Record<OperationName, Rows>> = {
  getSale: read,
  createSale,
  createCreditNote,
  retrySale,
  adjustStock,
  registerItem,
  listItems: read,
  listPurchases: read,
  pullPurchases: read,
  listBusinesses: read,
  createItem: namedWrite,
  receiptDownload: read,
  identity: read,
  lookups: read,
};

/** An answer that fits no row is `unexpected`, which nobody repeats blindly and nobody drops. */
export function classify(operation: OperationName, outcome: Outcome, rules: ClassificationRules): Classification {
  return ROWS[operation](outcome, rules) ?? { kind: "unexpected" };
}

export interface ClassifyOptions {
  /** registerItem: whether `force` was asked for. */
  forceAsked?: boolean | undefined;
  /** createSale: how far the key is trusted; default: as the dialect says. */
  saleKey?: ClassificationRules["saleKey"] | undefined;
}

export function rulesOf(
  dialect: ComplianceDialect,
  { forceAsked = false, saleKey = dialect.createSale.idempotencyKey }: ClassifyOptions = {},
): ClassificationRules {
  return { saleKey, alreadyCredited: dialect.errors.alreadyCredited, forceAsked };
}

/** What an error that a method of the client threw means. An error of any other origin counts as a lost answer. */
export function classifyError(
  operation: OperationName,
  error: unknown,
  dialect: ComplianceDialect,
  options?: ClassifyOptions,
): Classification {
  return classify(operation, outcomeOfError(error), rulesOf(dialect, options));
}

function outcomeOfError(error: unknown): Outcome {
  if (error instanceof CallInputError) return { kind: "refused-locally" };
  if (error instanceof TransportError) {
    const deferral = deferralOf(error);
    return deferral ? { kind: "held-back", ...deferral } : { kind: error.sent === "no" ? "not-sent" : "lost" };
  }
  if (error instanceof UnexpectedAnswerError) {
    const { status, documentId } = error;
    const sale = documentId === undefined ? undefined : { id: documentId };
    return { kind: "answer", status, documented: false, envelope: false, sale };
  }
  // Bytes may have left.
  if (!(error instanceof ComplianceApiError)) return { kind: "lost" };
  const { status, envelope, apiCode, meta, extras } = error;
  return {
    kind: "answer",
    status,
    documented: false,
    envelope,
    apiCode,
    retryAfterMs: retryAfterMsOf(meta),
    sale: extras.seenSale,
    creditNoteId: extras.creditNoteId,
    item: extras.seenItem,
  };
}

type Returned<Data> = Pick<Result<Data>, "data" | "meta">;

/** What a success means, by its status alone. */
export function classifyAnswer({ meta }: Returned<unknown>, dialect: ComplianceDialect): Classification {
  return classifySuccess(meta, dialect);
}

export function classifyItem({ meta, data }: Returned<Item>, dialect: ComplianceDialect): Classification {
  return classifySuccess(meta, dialect, { item: { registrationStatus: data.registrationStatus, missing: [] } });
}

export function classifyMovement(
  { meta, data }: Returned<StockAdjustment>,
  dialect: ComplianceDialect,
): Classification {
  return classifySuccess(meta, dialect, { report: data.report });
}

function classifySuccess(
  { operation, status }: Result<unknown>["meta"],
  dialect: ComplianceDialect,
  more: Pick<AnswerOutcome, "item" | "report"> = {},
): Classification {
  return classify(operation, { kind: "answer", status, documented: true, envelope: false, ...more }, rulesOf(dialect));
}
