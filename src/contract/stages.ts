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

/** Those that a row of the ledger can have: the others pass while the run waits for an answer. */
export const STAGES_OF_ROWS = STAGES.filter((stage) => stage !== "registering" && stage !== "adjusting-stock");

/** The stages that nothing but a refund moves on. */
export const SETTLED_STAGES: readonly Stage[] = ["completed", "credited", "cancelled"];
