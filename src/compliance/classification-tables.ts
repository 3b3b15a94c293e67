import type { ComplianceDialect } from "./dialect.ts";
import type { OperationName } from "./operations.ts";
import type { AnswerOutcome, Classification, Outcome } from "./outcome.ts";

/** What a classification depends on besides the outcome. */
export interface ClassificationRules {
  saleKey: ComplianceDialect["createSale"]["idempotencyKey"];
  alreadyCredited: string | null;
  /** registerItem: `force` was asked for. */
  forceAsked: boolean;
}

/** One row of the failure model: says nothing of an outcome that it does not describe. */
interface Row {
  says: string;
  judge: (outcome: Outcome, rules: ClassificationRules) => Classification | undefined;
}

function onOutcome(
  says: string,
  when: (outcome: Outcome, rules: ClassificationRules) => boolean,
  means: (outcome: Outcome, rules: ClassificationRules) => Classification,
): Row {
  return { says, judge: (outcome, rules) => (when(outcome, rules) ? means(outcome, rules) : undefined) };
}

function onAnswer(
  says: string,
  when: (answer: AnswerOutcome, rules: ClassificationRules) => boolean,
  means: (answer: AnswerOutcome, rules: ClassificationRules) => Classification,
): Row {
  const judge: Row["judge"] = (outcome, rules) =>
    outcome.kind === "answer" && when(outcome, rules) ? means(outcome, rules) : undefined;
  return { says, judge };
}

/**
 * Lost on the way, or a server that could not: whatever was asked for may have happened. 408 is a timeout seen from
 * there.
 */
function isTrouble(outcome: Outcome): boolean {
  if (outcome.kind === "lost") return true;
  return outcome.kind === "answer" && (outcome.status >= 500 || outcome.status === 408);
}

function isTroubleOrUnreadable(outcome: Outcome): boolean {
  return isTrouble(outcome) || isUnreadableSuccess(outcome);
}

/** A success whose body, or whose very status, is not what the document says. */
function isUnreadableSuccess(outcome: Outcome): boolean {
  return outcome.kind === "answer" && !outcome.documented && outcome.status >= 200 && outcome.status <= 299;
}

const refusedLocally = onOutcome(
  "the client refuses the call as asked",
  ({ kind }) => kind === "refused-locally",
  () => ({ kind: "refused", attention: "invalid-request" }),
);

const heldBack: Row = {
  says: "kept back by the budget",
  judge: (outcome) =>
    outcome.kind === "held-back" ? { kind: "deferred", retryAfterMs: outcome.retryAfterMs } : undefined,
};

const tooMany = onAnswer(
  "429",
  ({ status }) => status === 429,
  ({ retryAfterMs }) => ({ kind: "deferred", retryAfterMs }),
);

const badKey = onAnswer(
  "401, 403",
  ({ status }) => status === 401 || status === 403,
  () => ({ kind: "configuration" }),
);

const malformed = onAnswer(
  "400 with the error envelope",
  ({ status, envelope }) => status === 400 && envelope,
  () => ({ kind: "refused", attention: "invalid-request" }),
);

const notThere = onAnswer(
  "404",
  ({ status }) => status === 404,
  () => ({ kind: "refused", attention: "not-found" }),
);

/** The rows of "any call", for all but the stock adjustment, which believes no 4xx without the envelope. */
const ANY_CALL: readonly Row[] = [refusedLocally, heldBack, tooMany, badKey, malformed, notThere];

const done = onAnswer(
  "the answer that the document shows",
  ({ documented }) => documented,
  () => ({ kind: "ok" }),
);

const notSent = onOutcome(
  "not a byte left",
  ({ kind }) => kind === "not-sent",
  () => ({ kind: "not-applied" }),
);

const lostConverging = onOutcome("timeout, 5xx, unreadable body", isTroubleOrUnreadable, () => ({
  kind: "converging",
}));

const LOST_WRITE = "network after bytes left, timeout, 5xx, unreadable body";

/**
 * Beside an error of a credit note, `sale` could as well be the sale that it reverses: only a credit note is ours
 * there, and only a sale where a sale was asked for.
 */
function namesOwn({ sale }: AnswerOutcome, kind: "sale" | "credit_note"): boolean {
  if (sale === undefined) return false;
  const type = sale.type ?? (sale.originalSaleId === undefined ? "sale" : "credit_note");
  return kind === type;
}

/** The id to keep. What a success holds was made by the call, whatever else is wrong with it. */
function idOf(outcome: Outcome, kind: "sale" | "credit_note"): string | undefined {
  if (outcome.kind !== "answer") return undefined;
  return outcome.status < 300 || namesOwn(outcome, kind) ? outcome.sale?.id : undefined;
}

/**
 * An answer that fits no row of a guarded write: a repetition under its key is safe, but only an operator asks for it.
 */
function fitsNoRow(kind: "sale" | "credit_note"): Row {
  return onAnswer(
    "an answer that fits no row",
    () => true,
    (answer) => ({ kind: "unexpected", documentId: idOf(answer, kind) }),
  );
}

function rejections(kind: "sale" | "credit_note"): readonly Row[] {
  return [
    onAnswer(
      "422 with `sale`",
      (answer) => answer.status === 422 && answer.envelope && namesOwn(answer, kind),
      ({ sale }) => ({ kind: "rejected", documentId: sale?.id }),
    ),
    onAnswer(
      "422 without any id",
      ({ status, envelope }) => status === 422 && envelope,
      (_answer, rules) => ({
        kind: "rejected-without-trace",
        repeatable: kind === "credit_note" || rules.saleKey === "trusted",
      }),
    ),
  ];
}

const CREATE_SALE: readonly Row[] = [
  ...ANY_CALL,
  done,
  ...rejections("sale"),
  notSent,
  onOutcome(
    `${LOST_WRITE}, key trusted`,
    (outcome, { saleKey }) => saleKey === "trusted" && isTroubleOrUnreadable(outcome),
    (outcome): Classification => ({
      kind: "unknown-keyed",
      documentId: idOf(outcome, "sale"),
    }),
  ),
  onOutcome(
    `${LOST_WRITE}, or an answer that fits no row, key not trusted`,
    (outcome, { saleKey }) => saleKey !== "trusted" && (outcome.kind === "lost" || outcome.kind === "answer"),
    (outcome): Classification => ({ kind: "unknown", documentId: idOf(outcome, "sale") }),
  ),
  fitsNoRow("sale"),
];

const CREATE_CREDIT_NOTE: readonly Row[] = [
  ...ANY_CALL,
  done,
  onAnswer(
    "422 already credited",
    ({ status, envelope, apiCode, creditNoteId }, { alreadyCredited }) =>
      status >= 400 &&
      status <= 499 &&
      envelope &&
      (creditNoteId !== undefined || (apiCode !== undefined && apiCode === alreadyCredited)),
    ({ creditNoteId }) => ({ kind: "already-credited", creditNoteId }),
  ),
  ...rejections("credit_note"),
  notSent,
  onOutcome(LOST_WRITE, isTroubleOrUnreadable, (outcome): Classification => ({
    kind: "unknown-keyed",
    documentId: idOf(outcome, "credit_note"),
  })),
  fitsNoRow("credit_note"),
];

const RETRY_SALE: readonly Row[] = [
  ...ANY_CALL,
  done,
  onAnswer(
    "422",
    ({ status, envelope }) => status === 422 && envelope,
    ({ sale }) => ({ kind: "rejected", documentId: sale?.id }),
  ),
  notSent,
  lostConverging,
];

/** The failure model, one table for each group of calls. What fits no row is the business of `classify`. */

/**
 * Any status but a redirect: a body that is no envelope is not what the document says, and reading again harms nobody.
 */
const readTrouble = onOutcome(
  "network, timeout, 5xx, a body that is not what the document says",
  (outcome) =>
    outcome.kind === "not-sent" ||
    isTroubleOrUnreadable(outcome) ||
    (outcome.kind === "answer" && outcome.status >= 400 && !outcome.envelope),
  () => ({ kind: "transient" }),
);

const READ: readonly Row[] = [...ANY_CALL, done, readTrouble];

const REGISTERED = "REGISTERED";

const REGISTER_ITEM: readonly Row[] = [
  ...ANY_CALL,
  onAnswer(
    "200, REGISTERED",
    ({ documented, item }) => documented && item?.registrationStatus === REGISTERED,
    () => ({ kind: "ok" }),
  ),
  onAnswer(
    "200, not REGISTERED",
    ({ documented }) => documented,
    () => ({ kind: "converging" }),
  ),
  onAnswer(
    "422, the item shows REGISTERED and no force was asked",
    ({ status, envelope, item }, { forceAsked }) =>
      status === 422 && envelope && !forceAsked && item?.registrationStatus === REGISTERED,
    () => ({ kind: "ok" }),
  ),
  onAnswer(
    "422, the item has `needs`",
    ({ status, envelope, item }) => status === 422 && envelope && item !== undefined && item.missing.length > 0,
    ({ item }) => ({ kind: "needs-data", missing: item?.missing ?? [] }),
  ),
  onAnswer(
    "422, nothing is missing",
    ({ status, envelope }) => status === 422 && envelope,
    () => ({ kind: "refused", attention: "item-rejected" }),
  ),
  notSent,
  lostConverging,
];

/**
 * Without the envelope no 4xx but 429 is believed: a page of something in between does not say what happened behind it.
 */
const ADJUST_STOCK: readonly Row[] = [
  refusedLocally,
  heldBack,
  tooMany,
  onAnswer(
    "201 with `movementId`, a report that is there and not `ok`",
    ({ documented, report }) =>
      documented && report !== undefined && !(report.stockIo === "ok" && report.stockMaster === "ok"),
    () => ({ kind: "unreported" }),
  ),
  done,
  notSent,
  onAnswer(
    "401, 403 with the error envelope",
    ({ status, envelope }) => envelope && (status === 401 || status === 403),
    () => ({ kind: "configuration" }),
  ),
  onAnswer(
    "other 4xx with the error envelope",
    (answer) => answer.envelope && answer.status >= 400 && answer.status <= 499 && !isTrouble(answer),
    () => ({ kind: "refused", attention: "stock-refused" }),
  ),
  onOutcome(
    "everything else",
    () => true,
    () => ({ kind: "unknown" }),
  ),
];

/** Operations that the document only names: a write among them is not known to be repeatable. */
const NAMED: readonly Row[] = [
  ...ANY_CALL,
  done,
  notSent,
  onOutcome(LOST_WRITE, isTroubleOrUnreadable, () => ({ kind: "unknown" })),
];

/** The rows of each operation, in the order in which they are asked. */
export const CLASSIFICATION_TABLES: Readonly<Record<OperationName, readonly Row[]>> = {
  getSale: READ,
  createSale: CREATE_SALE,
  createCreditNote: CREATE_CREDIT_NOTE,
  retrySale: RETRY_SALE,
  adjustStock: ADJUST_STOCK,
  registerItem: REGISTER_ITEM,
  listItems: READ,
  listPurchases: READ,
  pullPurchases: READ,
  listBusinesses: READ,
  createItem: NAMED,
  receiptDownload: READ,
  identity: READ,
  lookups: READ,
};
