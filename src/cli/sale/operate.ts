import type { CliContext } from "../context.ts";
import { printNote, printResult } from "../output.ts";
import { orCreditNoteCommands } from "./credit-note-of.ts";
import type { ResultFlags, Scope } from "./scope.ts";
import type { Sales } from "./with-sales.ts";

export interface OperatorFlags extends Scope, ResultFlags {
  creditNote?: boolean;
  correction?: boolean;
}

export const CREDIT_NOTE_FLAG = ["--credit-note", "the sale's credit note is meant, not the sale"] as const;
export const CORRECTION_FLAG = ["--correction", "the sale's correction is meant, not the sale"] as const;

/**
 * Sends an operator's update to one sale, or to its credit note, and prints what is true afterwards.
 * @param follows what the answer means from now on
 */
export async function operateOne(
  context: CliContext,
  invoice: string,
  flags: OperatorFlags,
  send: (operate: Sales["operate"], workflowId: string, sales: Sales) => Promise<{ message: string }>,
  follows?: string,
): Promise<void> {
  const { withSales } = await import("./with-sales.ts");
  await withSales(context, async (sales) => {
    const workflowId = await sales.targetOf(invoice, flags);
    const sent = send(sales.operate, workflowId, sales);
    const reply = await sent.catch(orCreditNoteCommands(sales, { ...flags, invoice }));
    printResult(context, flags.json, { workflowId, ...reply }, `${invoice}: ${reply.message}`);
    if (follows !== undefined) printNote(context, follows);
  });
}
