import { setTimeout as delay } from "node:timers/promises";
import type { Command } from "commander";

import { type LedgerEvent, nairobiTime } from "../../contract/index.ts";
import { plainLine } from "../../contract/plain-text.ts";
import { eventCursor } from "../../contract/schema/job-inputs.ts";
import { parsedBy } from "../arguments.ts";
import { UsageError } from "../cli-error.ts";
import type { CliContext } from "../context.ts";
import { jsonText, printNote, written } from "../output.ts";
import { type ResultFlags, type Scope, withScope } from "../sale/scope.ts";

const LOOK_PAUSE_MS = 1_000;

interface EventsFlags extends Scope, ResultFlags {
  after?: string;
  follow?: boolean;
}

export function registerEvents(program: Command, context: CliContext): void {
  withScope(
    program
      .command("events")
      .description("Print what happened to a business's documents, in order, from the ledger.")
      .option("--after <cursor>", "only what came after this event (default: from the first)", parsedBy(eventCursor))
      .option("--follow", "go on with what is to come, until interrupted"),
  )
    .addHelpText(
      "after",
      `
With --json each event is one line. Keep the cursor of the last one that you have dealt with, and go on from there: none is skipped.

Example:
  fiscalflow events --after 120-3fa9c1d2e4b50718 --follow --json`,
    )
    .action((flags: EventsFlags) => printEvents(context, flags));
}

async function printEvents(context: CliContext, flags: EventsFlags): Promise<void> {
  const { businessOf } = await import("../jobs/business-of.ts");
  const { whyUnknown } = await import("../report/refuse-unknown.ts");
  const { withLedger } = await import("../with-ledger.ts");
  let cursor = flags.after;
  await withLedger(
    context,
    async (ledger, config) => {
      const { events } = ledger;
      const business = businessOf(config, flags);
      const asked = { connection: business.connection, business: business.businessId };
      // A cursor that is not the business's is refused by itself.
      const why = cursor === undefined ? await whyUnknown(ledger, config, asked) : undefined;
      if (why !== undefined && flags.follow !== true) throw new UsageError(why);
      if (why !== undefined) printNote(context, `${why} Waiting for its first event.`);
      while (!context.signal.aborted) {
        const page = await events.read(business, cursor);
        for (const event of page) await written(context, `${flags.json === true ? jsonText(event) : lineOf(event)}\n`);
        cursor = page.at(-1)?.cursor ?? cursor;
        if (page.length > 0) continue;
        if (flags.follow !== true) return;
        await delay(LOOK_PAUSE_MS, undefined, { signal: context.signal }).catch(() => undefined);
      }
    },
    { forMachines: flags.json === true, mayBeEmpty: flags.follow === true },
  );
  if (flags.json !== true && cursor === undefined) printNote(context, "The ledger has no events of that business.");
}

function lineOf({ cursor, at, kind, subject, document, correction, operator }: LedgerEvent): string {
  const state = document
    ? [document.stage, document.status, document.receipt?.cuInvoiceNo]
    : [correction?.state, operator?.update, operator?.code];
  return plainLine([cursor, nairobiTime(Date.parse(at)), kind, subject, ...state].filter(Boolean).join("  "));
}
