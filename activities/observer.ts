import { createHash } from "node:crypto";

import { givenText, isCalendarDate, type KeptPageResult } from "../src/contract/index.ts";
import type { OddRow } from "../src/http/read-body.ts";
import type { KeptPage, Ledger, Observation, Writer } from "../src/ledger/index.ts";
import { currentWriter } from "./classified-call.ts";

interface ObserverLog {
  warn: (message: string, fields: Record<string, unknown>) => void;
}

/** Between two statements about one observation: what thousands of sales show is one row of the ledger. */
const PAUSE_MS = 60_000;

interface Seen {
  /** How often since it was kept last. */
  times: number;
  keptAtMs: number;
}

/**
 * What answers show that does not fit the dialect, and stops nothing: logged once, and counted in the ledger for
 * `fiscalflow doctor`. Nobody waits for it.
 */
export class Observer {
  readonly #ledger: Pick<Ledger, "observations">;
  readonly #log: ObserverLog;
  readonly #nowMs: () => number;
  readonly #seen = new Map<string, Seen>();

  constructor(ledger: Pick<Ledger, "observations">, log: ObserverLog, nowMs: () => number) {
    this.#ledger = ledger;
    this.#log = log;
    this.#nowMs = nowMs;
  }

  note(observation: Observation): void {
    const { service, connection, businessId, kind, subject, value, message } = observation;
    const key = JSON.stringify([service, connection, businessId, kind, subject, value]);
    let seen = this.#seen.get(key);
    if (!seen) {
      seen = { times: 0, keptAtMs: -Infinity };
      this.#seen.set(key, seen);
      this.#log.warn(message, { service, connection, ...(businessId !== undefined && { businessId }), kind, subject });
    }
    seen.times += 1;
    if (this.#nowMs() - seen.keptAtMs < PAUSE_MS) return;
    const { times } = seen;
    seen.times = 0;
    seen.keptAtMs = this.#nowMs();
    this.#ledger.observations.note(observation, times).catch(() => {
      seen.times += times;
    });
  }
}

type Noting = Pick<Observer, "note">;
type Where = Pick<Observation, "service" | "connection" | "businessId">;

/** A page of a list as the service answered it. */
interface ListedPage<Entry extends { id: string }> {
  where: Where;
  list: "purchases" | "bill payments";
  entries: readonly Entry[];
  odd: readonly OddRow[];
  /** How many rows a page has: as the service says, and as was sent under `name`, the setting's value. */
  size: { answered: number | undefined; sent: number; setting: string; name: string | null };
  /** The date by which the ledger lists an entry. */
  dates: { field: string; of: (entry: Entry) => string | null | undefined };
  askedAtMs: number;
  nextCursor: string | null;
  total?: number;
}

/** Keeps the rows of a page, and counts them. Only the counts leave the activity. */
export async function keepRows<Entry extends { id: string }>(
  observer: Noting,
  { where, list, entries, odd, size, dates, ...page }: ListedPage<Entry>,
  keep: (page: {
    entries: readonly Entry[];
    leftOut: string[];
    askedAtMs: number;
    writer: Writer;
  }) => Promise<KeptPage>,
): Promise<KeptPageResult> {
  noteSize(observer, where, list, size);
  noteOddRows(observer, where, list, odd, entries.length);
  noteUndated(observer, where, list, entries, dates);
  const leftOut = idsOf(odd);
  const { askedAtMs } = page;
  const { leftOutKnown = 0, ...kept } = await keep({ entries, leftOut, askedAtMs, writer: currentWriter() });
  const unknown = odd.length - leftOutKnown;
  return {
    kind: "page",
    ...kept,
    ...(unknown > 0 && { leftOut: unknown }),
    ...(leftOut.length < odd.length && { unidentified: true as const }),
    ...fingerprintOf([...entries.map(({ id }) => id), ...leftOut]),
    ...page,
  };
}

/** The same for two pages that have the same rows: a service that does not take a page's name gives them for ever. */
function fingerprintOf(ids: readonly string[]): { fingerprint?: string } {
  if (ids.length === 0) return {};
  return { fingerprint: createHash("sha256").update(JSON.stringify(ids)).digest("base64url").slice(0, 22) };
}

function idsOf(odd: readonly OddRow[]): string[] {
  return odd.flatMap(({ names }) => names["id"] ?? []);
}

/** Pages of another size are read as well; they only cost more calls. */
function noteSize(
  observer: Noting,
  { service, connection }: Where,
  list: string,
  { answered, sent, setting: subject, name: value }: ListedPage<{ id: string }>["size"],
): void {
  if (value === null || answered === undefined || answered === sent) return;
  const message = `A page of ${list} has the size ${answered} where ${sent} was sent as "${value}" (${subject})`;
  observer.note({ service, connection, kind: "ignored", subject, value, message });
}

/** Notes dates that are none: the row is kept, and is in the list of no day. */
function noteUndated<Entry extends { id: string }>(
  observer: Noting,
  where: Where,
  list: string,
  entries: readonly Entry[],
  { field, of }: ListedPage<Entry>["dates"],
): void {
  const undated = entries.filter((entry) => {
    const date = givenText(of(entry));
    return date !== null && !isCalendarDate(date);
  });
  const [first] = undated;
  if (!first) return;
  const message =
    `${undated.length} of ${entries.length} ${list} of a page have a date that does not exist, or is not written YYYY-MM-DD ` +
    `(the field "${field}"), and are in the list of no day; the first is "${first.id}"`;
  observer.note({ ...where, kind: "odd-row", subject: `${list}: ${field} is no date`, message });
}

/** Notes what was left out of a list, once for each wrong field. */
export function noteOddRows(
  observer: Noting,
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
