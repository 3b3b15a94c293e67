import type { AppliedMovement, MovementTry, StockMovement } from "../../src/contract/index.ts";
import type { Work } from "../document/work.ts";
import { ledger } from "../proxies.ts";

/** Writes an outcome into its claim that could not be written when it came. The run ends only when that is done. */
export function recordLater(
  work: Work,
  { referenceId }: StockMovement,
  tried: MovementTry,
  outcome: AppliedMovement,
): void {
  work.run.beforeTheEnd(ledger.settleMovement({ ...work.target, referenceId, ...tried, outcome }));
}
