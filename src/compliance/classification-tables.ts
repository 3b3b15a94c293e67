import {
  ANY_CALL,
  done,
  heldBack,
  isTrouble,
  isTroubleOrUnreadable,
  LOST_WRITE,
  lostConverging,
  notSent,
  onAnswer,
  onOutcome,
  refusedLocally,
  type Row,
  tooMany,
} from "./classification-rows.ts";
import { CREATE_CREDIT_NOTE, CREATE_SALE, RETRY_SALE } from "./document-write-rows.ts";
import type { OperationName } from "./operations.ts";

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
