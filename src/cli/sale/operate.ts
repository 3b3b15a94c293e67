import type { CliContext } from "../context.ts";
import { printNote, printResult } from "../output.ts";
import { orCommands } from "./refusals.ts";
import type { ResultFlags, Scope } from "./scope.ts";
import type { Sales } from "./with-sales.ts";

export interface OperatorFlags extends Scope, ResultFlags {}

/**
 * Sends an operator's update to one sale, and prints what is true afterwards.
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
    const workflowId = sales.starter.workflowId(sales.keyOf(invoice, flags));
    const reply = await send(sales.operate, workflowId, sales).catch(orCommands({ ...flags, invoice }));
    printResult(context, flags.json, { workflowId, ...reply }, `${invoice}: ${reply.message}`);
    if (follows !== undefined) printNote(context, follows);
  });
}
