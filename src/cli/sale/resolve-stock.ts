import type { Client } from "@temporalio/client";
import type { Command } from "commander";

import type { MessageReply } from "../../contract/index.ts";
import type { SaleKey } from "../../starter/index.ts";
import { UsageError } from "../cli-error.ts";
import type { CliContext } from "../context.ts";
import { printNote } from "../output.ts";
import { CREDIT_NOTE_FLAG, operateOne, type OperatorFlags } from "./operate.ts";
import { commandLine, type CommandTarget } from "./resolving-commands.ts";
import { parseInvoice, parseText, withScope } from "./scope.ts";

interface ResolveStockFlags extends OperatorFlags {
  reference: string;
  applied?: boolean;
  notApplied?: boolean;
  note: string;
}

const COUNTS_AS_MADE = "The movement counts as made: it is not sent again.";
const IS_SENT_AGAIN =
  "The movement is sent again under the same reference. If it had been booked after all, it is booked twice.";

export function registerResolveStock(sale: Command, context: CliContext): void {
  withScope(
    sale
      .command("resolve-stock")
      .description("Tell whether a stock movement of unknown outcome was applied.")
      .argument("<invoice>", "the sale's number", parseInvoice)
      .requiredOption("--reference <id>", "the movement's referenceId, as `sale show` prints it")
      .option("--applied", "it was applied; it is not sent again")
      .option("--not-applied", "it was not applied; it is sent now")
      .requiredOption("--note <text>", "how you know, in a few words", parseText)
      .option(...CREDIT_NOTE_FLAG),
  )
    .addHelpText(
      "after",
      `
Example:
  fiscalflow sale resolve-stock INV-1001 --reference INV-1001/item_tea/sold --applied --note 'seen in the dashboard'`,
    )
    .action(async (invoice: string, flags: ResolveStockFlags) => {
      const { reference, note, applied = false, notApplied = false } = flags;
      if (applied === notApplied) throw new UsageError("Give exactly one of --applied and --not-applied.");
      const answer: Parameters<typeof operateOne>[3] = async (operate, id, { client, keyOf }) => {
        const warning = await warningOf(client, id, keyOf(invoice, flags), { reference, applied });
        if (warning !== undefined) printNote(context, warning);
        const reply = await operate.resolveStock(id, { referenceId: reference, applied, note });
        return { ...reply, message: whatIsLeft(reply, { ...flags, invoice }) };
      };
      await operateOne(context, invoice, flags, answer, applied ? COUNTS_AS_MADE : IS_SENT_AGAIN);
    });
}

function whatIsLeft({ attention }: MessageReply, target: CommandTarget): string {
  if (attention === undefined) return "Recorded: nothing is left for you to do.";
  return `Recorded: an operator is still needed (${attention}), see ${commandLine({ verb: "show", flags: [] }, { ...target, creditNote: false })}.`;
}

/** The balance is evidence alone, so it warns and never refuses. */
async function warningOf(
  client: Client,
  workflowId: string,
  key: SaleKey,
  { reference, applied }: { reference: string; applied: boolean },
): Promise<string | undefined> {
  const { WorkflowNotFoundError } = await import("@temporalio/client");
  const { stateOfRun } = await import("../../starter/state-of-run.ts");
  const { contradiction } = await import("./balance-lines.ts");
  try {
    const { state } = await stateOfRun(client, workflowId, key);
    const asked = state.attentions.find(({ code, subject }) => code === "stock-unknown" && subject === reference);
    return asked && contradiction(asked, applied);
  } catch (error) {
    // The update says it better.
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}
