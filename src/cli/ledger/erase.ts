import { randomUUID } from "node:crypto";

import { isCalendarDate, nairobiDate } from "../../contract/index.ts";
import { fewOf } from "../../contract/plain-text.ts";
import type { ErasedDocument, Writer } from "../../ledger/index.ts";
import { type CliContext, CommandFailedError, UsageError } from "../context.ts";
import { counted, printNote, printResult } from "../output.ts";
import { withLedger } from "../with-ledger.ts";
import { keepErasures } from "./erasures.ts";

export interface EraseFlags {
  before?: string;
  customerPin?: string;
  erasures?: string;
  dryRun?: boolean;
  json?: boolean;
}

/** Who has written the events by which contents were erased. */
export function eraser(): Writer {
  return { workflowId: "ledger/erase", runId: randomUUID() };
}

const TOLD_EVERY = 1_000;

/** Erases what is said of customers from the ledger, where the law no longer asks for it. To be repeated freely. */
export async function erase(context: CliContext, flags: EraseFlags): Promise<void> {
  const { erasures, dryRun = false, json = false } = flags;
  const which = whichOf(flags);
  if (!dryRun && erasures === undefined)
    throw new UsageError(
      "Say where to write down what is erased: --erasures <file>, which a backup of the database must not be the only one to have. `fiscalflow ledger restored --erasures` reads it.",
    );
  const found = { erased: [] as ErasedDocument[], stillOpen: [] as ErasedDocument[], nothingToErase: 0 };
  const work = withLedger(
    context,
    async (ledger, config) => {
      const { retentionYears } = config.ledger;
      const keptFrom = keptFromOf(retentionYears);
      const keep = async (all: Parameters<typeof keepErasures>[1]): Promise<void> => {
        if (erasures !== undefined) await keepErasures(erasures, all);
      };
      let looked = 0;
      for await (const one of ledger.erase({ which, keptFrom, dryRun, keep, writer: eraser() })) {
        if (one.result === "erased") found.erased.push(one);
        else if (one.result === "still-open") found.stillOpen.push(one);
        else found.nothingToErase += 1;
        looked += 1;
        if (!json && looked % TOLD_EVERY === 0) printNote(context, `${looked} sales looked at`);
      }
      return { retentionYears, keptFrom };
    },
    { quiet: json, asOwner: true },
  );
  const { retentionYears, keptFrom } = await work;
  const [erased, stillOpen] = [found.erased, found.stillOpen].map((all) => all.map(withoutResult));
  const result = { dryRun, retentionYears, keptFrom, erased, stillOpen, nothingToErase: found.nothingToErase };
  printResult(context, json, result, textOf(found, { dryRun, retentionYears, keptFrom }));
  if (!dryRun && found.erased.length > 0)
    printNote(
      context,
      "Temporal keeps what it has until the retention of the namespace is over, and each backup what was in it: https://github.com/fiscalflow/fiscalflow/blob/main/docs/privacy.md#erasing-a-customer",
    );
  if (found.stillOpen.length > 0) throw new CommandFailedError("");
}

function whichOf({ before, customerPin }: EraseFlags): { before: string } | { customerPin: string } {
  if ((before === undefined) === (customerPin === undefined))
    throw new UsageError("Say whose: --before <date>, or --customer-pin <pin>.");
  if (before === undefined) return { customerPin: customerPin ?? "" };
  if (!isCalendarDate(before)) throw new UsageError(`--before: expected a date, as 2021-01-31, found ${before}`);
  if (before > nairobiDate(Date.now())) throw new UsageError(`--before is in the future: ${before}`);
  return { before };
}

/** The first day whose sales the law has kept with their customers: so many years ago. */
export function keptFromOf(retentionYears: number): string {
  const today = nairobiDate(Date.now());
  return `${String(Number(today.slice(0, 4)) - retentionYears).padStart(4, "0")}${today.slice(4)}`;
}

function withoutResult({ connection, businessId, type, number, erased, events }: ErasedDocument) {
  return { connection, businessId, type, number, erased, events };
}

function textOf(
  {
    erased,
    stillOpen,
    nothingToErase,
  }: { erased: ErasedDocument[]; stillOpen: ErasedDocument[]; nothingToErase: number },
  { dryRun, retentionYears, keptFrom }: { dryRun: boolean; retentionYears: number; keptFrom: string },
): string {
  const of = (which: ErasedDocument["erased"]): ErasedDocument[] => erased.filter((one) => one.erased === which);
  const [wholly, partly] = [of("customer"), of("contact")];
  const does = dryRun ? "would lose" : "lost";
  const sales = (all: ErasedDocument[]): string =>
    `${counted(all.length, "sale")} (${counted(
      all.reduce((sum, { events }) => sum + events, 0),
      "event",
    )})`;
  const numbers = stillOpen.map(({ number }) => number);
  const lines = [
    ...(wholly.length > 0 ? [`${sales(wholly)} ${does} all that was said of the customer.`] : []),
    ...(partly.length > 0
      ? [
          `${sales(partly)} ${does} telephone and email alone: dated ${keptFrom} or later, within ${counted(retentionYears, "year")}.`,
        ]
      : []),
    ...(stillOpen.length > 0
      ? [`${counted(stillOpen.length, "sale")} still open, and left: ${fewOf(numbers, 10).join(", ")}`]
      : []),
    ...(nothingToErase > 0 ? [`${counted(nothingToErase, "sale")} said nothing of a customer.`] : []),
  ];
  return lines.length > 0 ? lines.join("\n") : "No sale is meant.";
}
