import { everythingWaitedFor, type Waiting } from "../../contract/index.ts";
import type { SaleState } from "../../starter/index.ts";

/** What a sale waits for: an operator before all else, wherever an update can reach it. */
export function waitsForInWords({
  source,
  closed,
  ...waiting
}: Pick<SaleState, "source" | "closed"> & Waiting): string {
  return closed || source === "ledger" ? waiting.waitingFor : everythingWaitedFor(waiting);
}
