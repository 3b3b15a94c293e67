import { nairobiAndUtcTime } from "../../contract/index.ts";
import { misfitOf } from "../../ledger/index.ts";
import { readLedgerNote, writeLedgerNote } from "../../worker/ledger-note.ts";
import { withTemporal } from "../connect-temporal.ts";
import { type CliContext, UsageError } from "../context.ts";
import { printNote, printResult } from "../output.ts";
import { withLedger } from "../with-ledger.ts";

export interface RestoredFlags {
  at?: string;
  lossless?: boolean;
  json?: boolean;
}

/**
 * Has the workers use the ledger's database as it is now, after it was restored, moved or taken over: with what it may
 * have lost, or with nothing.
 */
export async function restored(context: CliContext, flags: RestoredFlags): Promise<void> {
  const { at, lossless = false, json = false } = flags;
  if ((at !== undefined) === lossless)
    throw new UsageError(
      "Say what the database may have lost: --at <instant>, when the lost one was used last, or --lossless.",
    );
  const lostUntilMs = at === undefined ? undefined : Date.parse(at);
  if (lostUntilMs !== undefined && lostUntilMs > Date.now())
    throw new UsageError(`--at is in the future: ${at}. It is when the lost database was used last.`);
  const accept = withTemporal(context, ({ client }) =>
    withLedger(
      context,
      async (ledger) => {
        const seen = await readLedgerNote(client);
        const misfit = misfitOf(await ledger.place(), seen);
        const place = await ledger.acceptPlace(lostUntilMs);
        await writeLedgerNote(client, place);
        return { ...place, seen, misfit };
      },
      { forMachines: json, mayBeEmpty: true },
    ),
  );
  const { ledger, server, events, lostUntilMs: until, seen, misfit } = await accept;
  const lostUntil = until === undefined ? null : new Date(until).toISOString();
  const before = misfit === undefined ? "was the one that the workers know" : misfit;
  printResult(
    context,
    json,
    { ledger, server, events, eventsSeen: seen?.events ?? null, lostUntil },
    lostUntilMs === undefined ? "The workers use the database as it is: it has lost nothing." : lostText(lostUntilMs),
  );
  printNote(context, `The database ${before}. Workers that wait for it go on; none is to be restarted.`);
}

function lostText(untilMs: number): string {
  return (
    `The workers use the database as it is. What was to be sent before ${nairobiAndUtcTime(untilMs)}, and has no claim ` +
    "in it, is not sent again: a person is asked (stock-unknown, document-unknown, batch-unknown)."
  );
}
