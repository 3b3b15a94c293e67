/** Fiscal Compliance API, POST /v1/credit-notes, `reason`. A file of its own: receipts need no more of a refund. */
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
