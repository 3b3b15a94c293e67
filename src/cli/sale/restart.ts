import type { Command } from "commander";

import type { RestartReply } from "../../starter/index.ts";
import type { CliContext } from "../context.ts";
import { operateOne } from "./operate.ts";
import { type ManyFlags, operateMany, requireOneWay, withMany } from "./operate-many.ts";
import { parseInvoice, parseText, withScope } from "./scope.ts";

interface RestartFlags extends ManyFlags {
  note: string;
}

export function registerRestart(sale: Command, context: CliContext): void {
  withScope(
    withMany(
      sale
        .command("restart")
        .description(
          "Start a sale anew whose workflow was terminated, failed or timed out: one, or all that a query finds.",
        )
        .argument("[invoice]", "the sale's number", parseInvoice)
        .requiredOption("--note <text>", "why; kept among the sale's decisions", parseText),
      "ended",
    ),
  )
    .addHelpText(
      "after",
      `
The new run takes over what the runs before did: their document, their stock movements, and what was decided and asked. Nothing is
issued or moved twice. Two restarts at the same moment give one run. A sale whose workflow is open, or completed, is refused.

Examples:
  fiscalflow sale restart INV-1001 --note 'terminated by mistake'
  fiscalflow sale restart --query 'FiscalBusiness = "biz_1"' --note 'batch termination at noon' --dry-run`,
    )
    .action(async (invoice: string | undefined, flags: RestartFlags) => {
      requireOneWay(context, invoice, flags);
      const { query, note } = flags;
      if (invoice !== undefined)
        await operateOne(context, invoice, flags, async (operate, id) => {
          const reply = withMessage(await operate.restart(id, { note }));
          return { ...reply, message: reply.result === "restarted" ? `restarted; ${reply.message}` : reply.message };
        });
      else if (query !== undefined)
        await operateMany(
          context,
          { ...flags, query },
          { verb: "restart", done: "restarted", of: "ended" },
          async (operate, id) => withMessage(await operate.restart(id, { note })),
        );
    });
}

function withMessage(reply: RestartReply): RestartReply & { message: string } {
  const message =
    reply.result === "restarted"
      ? "the new run takes over what the run before did, and goes on with the rest. A rejected document is submitted again."
      : "somebody else has restarted it; nothing was started here.";
  return { ...reply, message };
}
