import { creditNoteWorkflowId, type Stage } from "../../../src/contract/index.ts";
import type { Button } from "../plan/button-plan.ts";
import type { PlannedSale } from "../plan/planned-sale.ts";
import { type Evidence, outcomeOf } from "./evidence.ts";

export interface Expected {
  readonly ends: Stage;
  /** Whether a credit note has to be there. */
  readonly refunded: boolean;
}

const CANCELS: readonly Button[] = ["workflow cancel", "batch cancel", "workflow update"];

/** After these another run carries the sale on. */
const ENDS: readonly Button[] = ["workflow terminate", "batch terminate", "workflow reset", "batch reset"];

/**
 * How a sale has to end: as its shape has it. One that a person has cancelled, or its credit note, may also end
 * cancelled, or, once it is signed, stay open for a refund no longer: then its refund comes late, and its credit note
 * has a workflow of its own. The books must agree with either.
 */
export function expectedOf({ storm, books, chronicles }: Evidence, workflowId: string, sale: PlannedSale): Expected {
  const planned = { ends: sale.ends, refunded: sale.refund !== undefined };
  const outcome = outcomeOf(chronicles.find((chronicle) => chronicle.workflowId === workflowId));
  const { connection, businessId } = sale;
  const saleId = outcome?.sale?.id;
  const notes = saleId === undefined ? [] : [creditNoteWorkflowId({ connection, businessId, saleId })];
  const isCancelled = [workflowId, ...notes].some((id) => isCancelledByHand(storm, id));
  const stage = outcome?.stage;
  // Its next run carries the late refund on as its own.
  const isCarriedOn = ENDS.some((button) => storm.buttons?.touched.get(workflowId)?.has(button));
  if (isCarriedOn && planned.refunded && stage === "credited") return { ends: "credited", refunded: true };
  if (!isCancelled) return planned;
  const number = sale.refund?.request.traderInvoiceNumber;
  const refunded = books.documents.some(
    ({ traderInvoiceNumber, businessId, type, status }) =>
      type === "credit_note" &&
      businessId === sale.businessId &&
      traderInvoiceNumber === number &&
      status === "completed",
  );
  if (stage === "cancelled") return { ends: "cancelled", refunded };
  if (stage === "completed" && sale.ends === "credited") return { ends: "completed", refunded };
  return { ...planned, refunded: planned.refunded && (stage === "credited" || refunded) };
}

export function isCancelledByHand({ buttons }: Evidence["storm"], workflowId: string): boolean {
  return CANCELS.some((button) => buttons?.touched.get(workflowId)?.has(button));
}

/**
 * Somebody ended the sale's run before it had taken its goods, and it was refunded before another run took them: then its
 * credit note has nothing to return, and says so.
 */
export function isOfSaleEndedByHand({ storm }: Evidence, creditNote: string): boolean {
  return [...storm.sales].some(
    ([workflowId, { refund }]) =>
      refund?.request.traderInvoiceNumber === creditNote &&
      ENDS.some((button) => storm.buttons?.touched.get(workflowId)?.has(button)),
  );
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
