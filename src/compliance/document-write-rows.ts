import type { Classification } from "./classification.ts";
import {
  ANY_CALL,
  done,
  isTroubleOrUnreadable,
  LOST_WRITE,
  lostConverging,
  notSent,
  onAnswer,
  onOutcome,
  type Row,
} from "./classification-rows.ts";
import type { AnswerOutcome, Outcome } from "./outcome.ts";

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

export const CREATE_SALE: readonly Row[] = [
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

export const CREATE_CREDIT_NOTE: readonly Row[] = [
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

export const RETRY_SALE: readonly Row[] = [
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
