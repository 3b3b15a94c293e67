import { nairobiAndUtcTime } from "../../contract/index.ts";
import { type Erasure, isHeld, type Ledger, misfitOf } from "../../ledger/index.ts";
import { readLedgerNote, writeLedgerNote } from "../../worker/ledger-note.ts";
import { keepLostRows, type LostRow } from "../../worker/lost-rows.ts";
import { withTemporal } from "../connect-temporal.ts";
import { type CliContext, CommandFailedError, UsageError } from "../context.ts";
import { counted, printNote, printResult } from "../output.ts";
import { withLedger } from "../with-ledger.ts";
import { eraser, keptFromOf } from "./erase.ts";
import { readErasures } from "./erasures.ts";

export interface RestoredFlags {
  at?: string;
  lossless?: boolean;
  erasures?: string;
  json?: boolean;
}

/** A workflow that ends writes its last event a moment before. */
const MARGIN_MS = 10 * 60_000;

/**
 * Has the workers use the ledger's database as it is now, after it was restored, moved or taken over: with what it may
 * have lost, or with nothing. To be repeated freely: the last instant counts.
 */
export async function restored(context: CliContext, flags: RestoredFlags): Promise<void> {
  const { at, lossless = false, erasures, json = false } = flags;
  if ((at !== undefined) === lossless)
    throw new UsageError(
      "Say what the database may have lost: --at <instant>, when the lost one was used last, or --lossless.",
    );
  const lostUntilMs = at === undefined ? undefined : Date.parse(at);
  if (lostUntilMs !== undefined && lostUntilMs > Date.now())
    throw new UsageError(`--at is in the future: ${at}. It is when the lost database was used last.`);
  // Before anything is changed: it has to be such a file.
  if (erasures !== undefined) for await (const _line of readErasures(context, erasures)) break;
  const accept = withTemporal(context, ({ client }) =>
    withLedger(
      context,
      async (ledger, config) => {
        const seen = await readLedgerNote(client);
        const known = await ledger.place();
        const misfit = misfitOf(known, seen);
        // Of one that was begun, or has ended, the newest event is its own, or the workers'. What was lost before stands
        // where nothing more was lost.
        const isNew = misfit !== undefined && !isHeld(known) && !(lossless && known.lostUntilMs !== undefined);
        const lostFromMs = isNew ? await ledger.lastEventMs() : known.lostFromMs;
        if (lostUntilMs !== undefined && lostFromMs !== undefined && lostUntilMs < lostFromMs)
          throw new UsageError(
            `--at is before the newest event of this database (${nairobiAndUtcTime(lostFromMs)}). It is not the backup's moment, but when the lost database was used last.`,
          );
        if (misfit === undefined) await ledger.acceptPlace(lostUntilMs);
        else await ledger.holdPlace(lostFromMs, lostUntilMs);
        const lost: LostRow[] = [];
        const sinceMs = (lostFromMs ?? (await ledger.lastEventMs()) ?? MARGIN_MS) - MARGIN_MS;
        const unasked: string[] = [];
        if (lostUntilMs !== undefined)
          for await (const row of keepLostRows(client, ledger, sinceMs))
            if (row.isUnasked) unasked.push(row.workflowId);
            else lost.push(row);
        const erased =
          erasures === undefined
            ? undefined
            : await erasedAgain(ledger, readErasures(context, erasures), keptFromOf(config.ledger.retentionYears));
        await writeLedgerNote(client, await ledger.place());
        // Last: until then the workers wait.
        const place = await ledger.acceptPlace(lostUntilMs);
        return { ...place, known, seen, misfit, lost, unasked, erased };
      },
      { quiet: json, mayBeEmpty: true, asOwner: erasures !== undefined },
    ),
  );
  const {
    ledger,
    server,
    events,
    lostFromMs: from,
    lostUntilMs: until,
    known,
    seen,
    misfit,
    lost,
    unasked,
    erased,
  } = await accept;
  // Where nothing was lost, it is kept for a person who learns better, and says nothing yet.
  const [lostFrom, lostUntil] = [until === undefined ? undefined : from, until].map((ms) =>
    ms === undefined ? null : new Date(ms).toISOString(),
  );
  const lines = [
    lostUntilMs === undefined ? "The workers use the database as it is: nothing more was lost." : lostText(lostUntilMs),
    ...(lostUntilMs === undefined && until !== undefined ? [`What was lost before stands: ${lostText(until)}`] : []),
    ...(lost.length > 0 ? [`${counted(lost.length, "workflow")} had done what the database did not know:`] : []),
    ...lost.map(({ workflowId, what }) => `  ${workflowId} (${what}): started again, it sends nothing by itself`),
    ...(unasked.length > 0
      ? [
          `${counted(unasked.length, "open sale")} gave no answer, and the database may know too little of them. Once workers run, run it again as it was.`,
        ]
      : []),
    ...(erased ? [`${counted(erased.count, "document")} lost again what had been erased of the customer.`] : []),
    ...(erased && erased.stillOpen.length > 0
      ? [
          `Still open in this database, and so not erased again: ${erased.stillOpen.join(", ")}. Once they have ended, run it again with the same file.`,
        ]
      : []),
  ];
  const result = {
    ledger,
    server,
    events,
    eventsSeen: seen?.events ?? null,
    lostFrom,
    lostUntil,
    lostRows: lost,
    unasked,
    ...(erased && { erased: erased.count, stillOpen: erased.stillOpen }),
  };
  printResult(context, json, result, lines.join("\n"));
  const before = isHeld(known)
    ? "was restored, and this command ended early before"
    : (misfit ?? "was the one that the workers know");
  printNote(context, `The database ${before}. Workers that wait for it go on; none is to be restarted.`);
  if (unasked.length > 0 || (erased && erased.stillOpen.length > 0)) throw new CommandFailedError("");
}

/** How many sales and credit notes still had something of it, and which are open again. */
async function erasedAgain(
  ledger: Ledger,
  erasures: AsyncIterable<Erasure>,
  keptFrom: string,
): Promise<{ count: number; stillOpen: string[] }> {
  const found = { count: 0, stillOpen: [] as string[] };
  for await (const { result, number } of ledger.eraseAgain(erasures, { writer: eraser(), keptFrom })) {
    if (result === "erased") found.count += 1;
    if (result === "still-open") found.stillOpen.push(number);
  }
  return found;
}

function lostText(untilMs: number): string {
  return (
    `The workers use the database as it is. What was to be sent before ${nairobiAndUtcTime(untilMs)}, and has no claim ` +
    "in it, is not sent again: a person is asked (stock-unknown, document-unknown, batch-unknown)."
  );
}
