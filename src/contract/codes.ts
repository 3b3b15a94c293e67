/** Codes in words, as receipts and reports print them. */

/** Fiscal Compliance API, POST /v1/credit-notes, `reason`. */
export const REFUND_REASONS = {
  "01": "missing quantity",
  "02": "missing data",
  "03": "damaged",
  "04": "wasted",
  "05": "raw material shortage",
  "06": "refund",
} as const;

export type RefundReason = keyof typeof REFUND_REASONS;

/** `damaged (03)`; a code that is none of these stands alone. */
export function refundReasonText(code: string): string {
  const words = refundReasonWords(code);
  return words === undefined ? code : `${words} (${code})`;
}

export function refundReasonWords(code: string): string | undefined {
  return Object.hasOwn(REFUND_REASONS, code) ? REFUND_REASONS[code as RefundReason] : undefined;
}

/**
 * The authority's own list of payment types (KRA, eTIMS specification). The API passes a code on and documents no list,
 * so the code always stands beside the word, and an unknown code stands alone.
 */
const WORDS: Readonly<Record<string, string>> = {
  "01": "cash",
  "02": "credit",
  "03": "cash and credit",
  "04": "bank cheque",
  "05": "debit or credit card",
  "06": "mobile money",
  "07": "other",
};

export const KNOWN_PAYMENT_TYPES: readonly string[] = Object.keys(WORDS);

export function isUnknownPaymentType(code: string | null): boolean | null {
  return code === null ? null : !KNOWN_PAYMENT_TYPES.includes(code);
}

export function paymentType(code: string | null): string {
  if (code === null) return "not stated";
  const words = paymentTypeWords(code);
  return words === undefined ? code : `${words} (${code})`;
}

export function paymentTypeWords(code: string): string | undefined {
  return WORDS[code];
}
