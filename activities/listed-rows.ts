import { Context } from "@temporalio/activity";

import type { KeptPageResult } from "../src/contract/index.ts";
import type { OddRow } from "../src/http/read-rows.ts";
import type { KeptPage, Observation, Writer } from "../src/ledger/index.ts";
import { onceThere } from "./failure.ts";
import { writerOf } from "./ledger/claim-results.ts";
import type { Observer } from "./observer.ts";

type Where = Pick<Observation, "service" | "connection" | "businessId">;

/** A page as the service answered it. `More`: what the workflow is told of it beside the counts. */
export interface AnsweredPage<Entry, More> {
  kind: "answered";
  entries: readonly Entry[];
  odd: readonly OddRow[];
  /** How many rows a page has: as the service says, and as was sent under `name`, the setting's value. */
  size: { said: number | undefined; sent: number; setting: string; name: string | null };
  more: More;
}

/**
 * The way of every page that is read into the ledger: asked for, looked at, kept, counted. Only the counts leave the activity.
 * @param ask makes the one call. What it returns beside an answered page is the activity's result; it throws where it is to be tried again.
 */
export async function keepPage<Entry, Page extends KeptPage, More, Other>(
  { random, observer }: { random: () => number; observer: Pick<Observer, "note"> },
  {
    list,
    where,
    now,
    ask,
    keep,
  }: {
    list: "purchases" | "bill payments";
    where: Where;
    now: () => Promise<number>;
    ask: (askedAtMs: number) => Promise<AnsweredPage<Entry, More> | Other>;
    keep: (page: KeepRequest<Entry>) => Promise<Page>;
  },
): Promise<(KeptPageResult & Omit<Page, "leftOutKnown"> & More) | Other> {
  // A page that could not be kept is not asked for: its call would be wasted.
  const askedAtMs = await onceThere(now, random);
  const answer = await ask(askedAtMs);
  if (!isAnswered(answer)) return answer;
  const { entries, odd, size, more } = answer;
  noteSize(observer, where, list, size);
  noteOddRows(observer, where, list, odd, entries.length);
  const leftOut = idsOf(odd);
  const writer = writerOf(Context.current().info);
  const { leftOutKnown = 0, ...kept } = await onceThere(() => keep({ entries, leftOut, askedAtMs, writer }), random);
  const unknown = odd.length - leftOutKnown;
  return {
    kind: "page",
    ...kept,
    ...(unknown > 0 && { leftOut: unknown }),
    ...(leftOut.length < odd.length && { unidentified: true as const }),
    ...more,
  };
}

interface KeepRequest<Entry> {
  entries: readonly Entry[];
  leftOut: string[];
  askedAtMs: number;
  writer: Writer;
}

function isAnswered<Entry, More, Other>(
  answer: AnsweredPage<Entry, More> | Other,
): answer is AnsweredPage<Entry, More> {
  return (answer as { kind?: unknown }).kind === "answered";
}

export function idsOf(odd: readonly OddRow[]): string[] {
  return odd.flatMap(({ names }) => names["id"] ?? []);
}

/** Pages of another size are read as well; they only cost more calls. */
function noteSize(
  observer: Pick<Observer, "note">,
  where: Where,
  list: string,
  { said, sent, setting, name }: AnsweredPage<unknown, unknown>["size"],
): void {
  if (name === null || said === undefined || said === sent) return;
  const message = `A page of ${list} has the size ${said} where ${sent} was sent as "${name}" (${setting})`;
  const { service, connection } = where;
  observer.note({ service, connection, kind: "ignored", subject: setting, value: name, message });
}

/**
 * Notes what was left out of a list, once for each wrong field.
 * @param read how many rows were read
 */
export function noteOddRows(
  observer: Pick<Observer, "note">,
  where: Where,
  list: "items" | "purchases" | "bill payments",
  odd: readonly OddRow[],
  read: number,
): void {
  const byField = new Map<string, OddRow[]>();
  for (const row of odd) byField.set(row.field, [...(byField.get(row.field) ?? []), row]);
  for (const [field, rows] of byField) {
    const [first] = rows;
    const id = first?.names["id"];
    const which = id === undefined ? "the first has no id that can be read" : `the first is "${id}"`;
    const what = `${field === "" ? "the row" : `the field "${field}"`} does not have the documented form (${first?.problem ?? ""})`;
    const message = `${rows.length} of ${read + odd.length} ${list} of a list were left out: ${what}; ${which}`;
    observer.note({ ...where, kind: "odd-row", subject: `${list}: ${field}`, message });
  }
}
