import type { Stage } from "../../../src/contract/index.ts";
import { type Button, CANCELS, givesUpCreditNote } from "../plan/button-plan.ts";
import type { PlannedSale } from "../plan/planned-sale.ts";
import { type Evidence, outcomeOf } from "./evidence.ts";

export interface Expected {
  readonly ends: Stage;
  /** Whether a credit note has to be there. */
  readonly refunded: boolean;
}

/** After these another run carries the sale on. */
const ENDS: readonly Button[] = ["workflow terminate", "batch terminate", "workflow reset", "batch reset"];

/**
 * How a sale has to end: as its shape has it. One that a person has cancelled may also end cancelled; one whose credit
 * note a person has given up, completed.
 */
export function expectedOf({ storm, chronicles }: Evidence, workflowId: string, sale: PlannedSale): Expected {
  const refunded = sale.refund !== undefined;
  const stage = outcomeOf(chronicles.find((chronicle) => chronicle.workflowId === workflowId))?.stage;
  if (stage === "cancelled" && isCancelledByHand(storm, workflowId)) return { ends: stage, refunded: false };
  if (stage === "completed" && refunded && givesUpCreditNote(storm.buttons?.touched.get(workflowId)))
    return { ends: stage, refunded: false };
  return { ends: sale.ends, refunded };
}

export function isCancelledByHand({ buttons }: Evidence["storm"], workflowId: string): boolean {
  return CANCELS.some((button) => buttons?.touched.get(workflowId)?.has(button));
}

/**
 * Somebody ended the sale's run before it had taken its goods, and it was refunded before another run took them: then its
 * credit note has nothing to return, and says so.
 */
export function isEndedByHand({ buttons }: Evidence["storm"], workflowId: string): boolean {
  return ENDS.some((button) => buttons?.touched.get(workflowId)?.has(button));
}

/**
 * Somebody cancelled the sale, which gave its goods back, and reset it, which had its document signed after all: then a
 * person is asked, who alone knows whether the goods have left the shop.
 */
export function isAskedOfGoodsGivenBack({ storm }: Evidence, workflowId: string, reference: string): boolean {
  const asked = storm.attentions.some(
    ({ code, subject, message }) =>
      code === "stock-refused" && subject === reference && message.startsWith("The goods were given back to stock"),
  );
  return asked && isCancelledByHand(storm, workflowId);
}
