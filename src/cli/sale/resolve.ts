import type { Client } from "@temporalio/client";
import type { Command } from "commander";

import type { MessageReply, ResolveStockRequest } from "../../contract/index.ts";
import type { SaleKey } from "../../starter/index.ts";
import type { CliContext } from "../context.ts";
import { printNote } from "../output.ts";
import { requestOf } from "../update-options.ts";
import { operateOne, type OperatorFlags } from "./operate.ts";
import { answerCommand } from "./operate-many.ts";
import { isNotFound } from "./refusals.ts";
import { type CommandTarget, showCommand } from "./resolving-commands.ts";

const COUNTS_AS_MADE = "The movement counts as made: it is not sent again.";
const IS_SENT_AGAIN =
  "The movement is sent again under the same reference. If it had been booked after all, it is booked twice.";

export function registerResolveStock(sale: Command, context: CliContext): void {
  answerCommand(sale, "resolveStock", {
    description: "Tell whether a stock movement of unknown outcome was applied.",
    help: `Example:
  fiscalflow sale resolve-stock INV-1001 --reference INV-1001/item_tea/sold --applied --note 'seen in the dashboard'`,
  }).action(async (invoice: string, flags: OperatorFlags) => {
    const request = requestOf("resolveStock", flags);
    const answer: Parameters<typeof operateOne>[3] = async (operate, id, { client, keyOf }) => {
      const warning = await warningOf(client, keyOf(invoice, flags), request);
      if (warning !== undefined) printNote(context, warning);
      const reply = await operate.resolveStock(id, request);
      return { ...reply, message: whatIsLeft(reply, { ...flags, invoice }) };
    };
    await operateOne(context, invoice, flags, answer, request.applied ? COUNTS_AS_MADE : IS_SENT_AGAIN);
  });
}

export function registerResolveDocument(sale: Command, context: CliContext): void {
  answerCommand(sale, "resolveDocument", {
    description: "Tell what became of a create request whose answer was lost.",
    help: `Example:
  fiscalflow sale resolve-document INV-1001 --sale sal_1 --note 'found in the dashboard'`,
  }).action(async (invoice: string, flags: OperatorFlags) => {
    const request = requestOf("resolveDocument", flags);
    await operateOne(context, invoice, flags, (operate, id) => operate.resolveDocument(id, request));
  });
}

function whatIsLeft({ attention }: MessageReply, target: CommandTarget): string {
  if (attention === undefined) return "Recorded: nothing is left for you to do.";
  return `Recorded: an operator is still needed (${attention}), see ${showCommand(target.invoice, target)}.`;
}

/** The balance is evidence alone, so it warns and never refuses. */
async function warningOf(
  client: Client,
  key: SaleKey,
  { referenceId, applied }: ResolveStockRequest,
): Promise<string | undefined> {
  const { stateOfSale } = await import("../../starter/state-of-sale.ts");
  const { contradiction } = await import("./balance-lines.ts");
  try {
    const { attentions } = await stateOfSale(client, key);
    const asked = attentions.find(({ code, subject }) => code === "stock-unknown" && subject === referenceId);
    return asked && contradiction(asked, applied);
  } catch (error) {
    // The update says it better.
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
