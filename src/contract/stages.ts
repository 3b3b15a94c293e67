/** `FiscalStage`. A credit note goes through the same words and ends `credited`. */
export const STAGES = [
  "resolving-items",
  "registering",
  "submitting",
  "adjusting-stock",
  "awaiting-authority",
  "rejected",
  "completed",
  "crediting",
  "credited",
  "cancelled",
] as const;

export type Stage = (typeof STAGES)[number];

/** The stages that nothing but a refund moves on. */
export const SETTLED_STAGES: readonly Stage[] = ["completed", "credited", "cancelled"];
