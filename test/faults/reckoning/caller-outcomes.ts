import type { SaleOutcome, Stage } from "../../../src/contract/index.ts";
import { type Evidence, outcomeOf } from "./evidence.ts";
import { isCancelledByHand, isEndedByHand } from "./expected.ts";

/** What may still become of a sale whose caller was told that it is settled. */
const BECOMES: Readonly<Partial<Record<Stage, readonly Stage[]>>> = {
  completed: ["completed", "credited"],
  credited: ["credited"],
  cancelled: ["cancelled"],
};

/** What a caller was told once is what is true in the end: the document, its receipt, and that it is not taken back. */
export function callersMisinformed({ storm, chronicles }: Evidence): string[] {
  const byId = new Map(chronicles.map((chronicle) => [chronicle.workflowId, chronicle]));
  return [...storm.callers.outcomes].flatMap(([workflowId, told]) => {
    const outcome = outcomeOf(byId.get(workflowId));
    // That it is lost is found by another.
    if (!outcome) return [];
    // Somebody cancelled it while it had no signed document, and reset it after its caller was told: it goes on.
    const isRevived = isCancelledByHand(storm, workflowId) && isEndedByHand(storm, workflowId);
    if (told.stage === "cancelled" && !told.receipt && isRevived) return [];
    return differences(told, outcome).map((difference) => `${workflowId}: ${difference}`);
  });
}

function differences(told: SaleOutcome, became: SaleOutcome): string[] {
  const found: string[] = [];
  if (BECOMES[told.stage]?.includes(became.stage) !== true)
    found.push(`its caller was told ${told.stage}, it became ${became.stage}`);
  if (told.sale?.id !== became.sale?.id)
    found.push(`its caller was told of ${told.sale?.id ?? "none"}, its document is ${became.sale?.id ?? "none"}`);
  if (told.receipt?.cuInvoiceNo !== became.receipt?.cuInvoiceNo)
    found.push(`its caller was told of receipt ${told.receipt?.cuInvoiceNo}, it has ${became.receipt?.cuInvoiceNo}`);
  return found;
}
