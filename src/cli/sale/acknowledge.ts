import type { Command } from "commander";

import { UsageError } from "../cli-error.ts";
import type { CliContext } from "../context.ts";
import { requestOf } from "../update-options.ts";
import { answerCommand, type ManyFlags, operateOneOrMany, requireOneWay } from "./operate-many.ts";

interface AcknowledgeFlags extends ManyFlags {
  code?: string;
}

export function registerAcknowledge(sale: Command, context: CliContext): void {
  answerCommand(sale, "acknowledge", {
    description: "Acknowledge for good what cannot be corrected: for one sale, or for all that a query finds.",
    help: `Examples:
  fiscalflow sale acknowledge INV-1001 --code mismatch --note 'checked on the portal'
  fiscalflow sale acknowledge --query "FiscalAttention = 'stock-unreported'" --code stock-unreported --note 'reported by hand'`,
    many: true,
    optional: ["code"],
  }).action(async (invoice: string | undefined, flags: AcknowledgeFlags) => {
    requireOneWay(context, invoice, flags);
    if (flags.code === undefined) throw await codeIsMissing(context, invoice, flags);
    const request = requestOf("acknowledge", flags);
    await operateOneOrMany(context, invoice, flags, { verb: "acknowledge", done: "acknowledged" }, (operate, id) =>
      operate.acknowledge(id, request),
    );
  });
}

/** With the commands that would do: which attentions a sale has, only `sale show` would tell otherwise. */
async function codeIsMissing(
  context: CliContext,
  invoice: string | undefined,
  flags: AcknowledgeFlags,
): Promise<UsageError> {
  const missing = "Give --code, the attention code to acknowledge";
  if (invoice === undefined) return new UsageError(`${missing}.`);
  const { withSales } = await import("./with-sales.ts");
  const { resolvingCommands } = await import("./resolving-commands.ts");
  return await withSales(context, async (sales) => {
    const { attentions } = await sales.starter.getSale(sales.keyOf(invoice, flags));
    const mine = attentions.filter(({ resolvedBy }) => resolvedBy.includes("acknowledge"));
    const commands = mine
      .flatMap((one) => resolvingCommands({ ...one, resolvedBy: ["acknowledge"] }, { ...flags, invoice }))
      .map((command) => `\n  ${command}`);
    if (commands.length > 0) return new UsageError(`${missing}:${commands.join("")}`);
    return new UsageError(`${missing}. The sale ${invoice} has none that can be acknowledged.`);
  });
}
