import type { AdjustStockResult } from "../../src/contract/index.ts";

/** Whether the next movement would meet the same: not sent, or refused for what is no matter of its own. */
export function isTrouble(result: AdjustStockResult): boolean {
  if (result.kind === "not-applied") return result.refusal.attention === "credentials";
  return result.kind === "deferred" || result.kind === "branch-held";
}
