import { nairobiInstant, nairobiTime } from "../../contract/nairobi-date.ts";
import type { ListedEntry, PeriodOfOwner } from "../../ledger/index.ts";
import { counted } from "../output.ts";

/** What is said alike of purchases and of bill payments, which a synchronisation has copied from a service. */

interface Sums {
  missing: boolean;
  count: number;
}

/** For a title: `whole list as of 2026-11-24 03:00 EAT, what is new as of 2026-11-24 13:05 EAT`. */
export function asOf({
  syncedAtMs: whole,
  newestSyncedAtMs: newest,
}: Pick<PeriodOfOwner<never>, "syncedAtMs" | "newestSyncedAtMs">): string {
  const all = whole === null ? "never read as a whole" : `whole list as of ${nairobiTime(whole)}`;
  return newest === null || newest === whole ? all : `${all}, what is new as of ${nairobiTime(newest)}`;
}

/** In the table of the sums. */
export function sumsName(status: string, { missing }: Sums): string {
  return missing ? `${status}, no longer listed` : status;
}

/** What is to be looked at in an entry, for the table. */
export function looksOf({ missingSinceMs, altered }: ListedEntry): string[] {
  return [
    ...(missingSinceMs === null ? [] : [`no longer listed since ${nairobiTime(missingSinceMs)}`]),
    ...(altered ? ["altered in the ledger"] : []),
  ];
}

/** The same for the CSV. */
export const LOOK_COLUMNS: readonly [name: string, value: (entry: ListedEntry) => string][] = [
  ["missing_since", ({ missingSinceMs }) => (missingSinceMs === null ? "" : nairobiInstant(missingSinceMs))],
  ["altered", ({ altered }) => (altered ? "yes" : "no")],
];

/** @param group of the commands that read them: `purchases` */
export function syncedNotes(
  { syncedAtMs, sums, altered, undated, firstUndated }: PeriodOfOwner<unknown> & { sums: readonly Sums[] },
  noun: string,
  group: string,
): string[] {
  const missing = sums.reduce((sum, of) => sum + (of.missing ? of.count : 0), 0);
  const notes: string[] = [];
  if (syncedAtMs === null)
    notes.push(
      `no synchronisation has read every ${noun} yet: some may be missing. See: fiscalflow ${group} sync --full --wait`,
    );
  if (missing > 0)
    notes.push(
      `${counted(missing, `listed ${noun}`)} ${missing === 1 ? "is" : "are"} no longer in the service's list; the sums have them apart.`,
    );
  if (altered > 0)
    notes.push(
      `${counted(altered, `listed ${noun}`)} ${altered === 1 ? "does" : "do"} not say what the ledger's events say: somebody has altered the ledger. See: fiscalflow ledger verify`,
    );
  if (undated > 0)
    notes.push(
      `${counted(undated, noun)} ${undated === 1 ? "has" : "have"} no date that exists, written YYYY-MM-DD, and ${undated === 1 ? "is" : "are"} in no list${undated === 1 ? "" : "; the first"}: ${JSON.stringify(firstUndated)}.`,
    );
  return notes;
}
