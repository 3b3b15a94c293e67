import { type RawBuilder, sql } from "kysely";

import type { Queries } from "./database.ts";
import { LedgerUnavailableError } from "./errors.ts";
import { type Business, businessColumns, type Writer } from "./events/chain.ts";
import { storableText } from "./storable-text.ts";

/**
 * Where the ledger is, and how much it has. A database that was restored from a backup has lost the claims of its last
 * minutes, and what they kept from being sent twice; so where one of these does not fit, no worker writes to it until
 * somebody has said what it may have lost (docs/database.md, "Backup and restore").
 */
export interface Place {
  /** Made with the tables; a copy has the same. */
  ledger: string;
  /** PostgreSQL's system identifier, which `initdb` makes, and its timeline, which a recovery and a failover change. */
  server: string;
  /** Of all chains together: never fewer. */
  events: number;
}

export interface KnownPlace extends Place {
  /** That was used last: another one than `server` where the database has moved. */
  knownServer: string;
  /** Its newest event (Unix milliseconds) when it was found restored: what came after it may be lost. */
  lostFromMs?: number;
  /** What was to be sent before (Unix milliseconds), and has no claim, may have been sent. */
  lostUntilMs?: number;
}

/** In place of a server: the database is used no more. */
export const MOVED = "moved";

/** In its place while `ledger restored` writes what it finds: that adds events, and hides how many were lost. */
const HELD = "held";

interface PlaceRow {
  ledger: string | null;
  known: string;
  here: string;
  events: string;
  lost_from: Date | null;
  lost_until: Date | null;
}

/** Of a server that does not say: nothing follows from it. */
const UNKNOWN = "unknown";

/** Any role may ask, and not every hosted server answers (migrate.ts). */
const HERE = sql`select ledger_server() as here`;

export async function readPlace(db: Queries): Promise<KnownPlace> {
  const { rows } = await sql<PlaceRow>`
    select p.ledger, p.server as known, p.lost_from, p.lost_until, at.here,
      (select coalesce(sum(count), 0) from event_heads) as events
    from (${HERE}) as at left join ledger_place as p on true`.execute(db);
  const [row] = rows;
  if (!row?.ledger) {
    await sql`
      insert into ledger_place (one, ledger, server) select true, gen_random_uuid()::text, here from (${HERE}) as at
      on conflict do nothing`.execute(db);
    return readPlace(db);
  }
  const { ledger, here: server, known: knownServer, events, lost_from: lostFrom, lost_until: lostUntil } = row;
  return {
    ledger,
    server,
    knownServer,
    events: Number(events),
    ...(lostFrom && { lostFromMs: lostFrom.getTime() }),
    ...(lostUntil && { lostUntilMs: lostUntil.getTime() }),
  };
}

/**
 * @param seen what this namespace's workers have seen last; undefined: nothing
 * @returns what does not fit; undefined: it is the same database, with all that it had
 */
export function misfitOf(place: KnownPlace, seen: Place | undefined): string | undefined {
  if (seen && seen.ledger !== place.ledger)
    return "is not the one that the workers of this namespace have used: each namespace has one ledger";
  if (place.knownServer === MOVED) return "was moved to another server (`fiscalflow ledger move`)";
  if (isHeld(place))
    return "was restored, and `fiscalflow ledger restored` is still at work, or has ended early: then run it again";
  if (isAnother(place.server, place.knownServer))
    return `is on another server, or another timeline of it, than it was (${place.server}, and was ${place.knownServer}): it was restored, copied, or taken over by a replica`;
  if (seen && isAnother(place.server, seen.server))
    return `is on another server, or another timeline of it, than the workers use (${place.server}, and they ${seen.server})`;
  if (seen && seen.events > place.events)
    return `has ${place.events} events, and had ${seen.events}: it was restored from a backup`;
  return undefined;
}

/** Whether {@link holdPlace} has begun what {@link acceptPlace} is to end. */
export function isHeld({ knownServer }: KnownPlace): boolean {
  return knownServer === HELD;
}

function isAnother(server: string, known: string): boolean {
  return server !== UNKNOWN && known !== UNKNOWN && server !== known;
}

/**
 * What this namespace's workers have seen of the ledger last; undefined: nothing.
 * @param anew it is looked up, and not remembered: somebody may have said meanwhile that the database is right as it is
 */
export type SeenPlace = (anew?: boolean) => Promise<Place | undefined>;

/** @throws LedgerUnavailableError where the database is not the one that was used, or has lost something */
export async function requirePlace(db: Queries, seen: SeenPlace): Promise<void> {
  // First, since others go on writing meanwhile.
  const before = await seen();
  if (misfitOf(await readPlace(db), before) === undefined) return;
  const now = await seen(true);
  const misfit = misfitOf(await readPlace(db), now);
  if (misfit === undefined) return;
  throw new LedgerUnavailableError(
    `The ledger's database ${misfit}. Nothing is sent that must not be sent twice until \`fiscalflow ledger restored\` says what it may have lost (https://github.com/fiscalflow/fiscalflow/blob/main/docs/database.md#backup-and-restore).`,
  );
}

/** When the newest event was written (Unix milliseconds); undefined: there is none. */
export async function lastEventMs(db: Queries): Promise<number | undefined> {
  const { rows } = await sql<{ at: Date | null }>`
    select max(e.at) as at from event_heads as h
    join events as e on (e.connection, e.business_id, e.number) = (h.connection, h.business_id, h.count)`.execute(db);
  return rows[0]?.at?.getTime();
}

/** No worker uses the database, whatever is written to it, until {@link acceptPlace}. */
export async function holdPlace(
  db: Queries,
  lostFromMs: number | undefined,
  lostUntilMs: number | undefined,
): Promise<void> {
  const [from, until] = [lostFromMs, lostUntilMs].map((ms) => (ms === undefined ? null : new Date(ms)));
  await readPlace(db);
  await sql`
    update ledger_place set server = ${HELD}, lost_from = ${from}::timestamptz,
      lost_until = coalesce(${until}::timestamptz, lost_until)`.execute(db);
}

/** From now on the workers use the database as it is. @param lostUntilMs undefined: it has lost nothing more */
export async function acceptPlace(db: Queries, lostUntilMs: number | undefined): Promise<KnownPlace> {
  await readPlace(db);
  const lost = lostUntilMs === undefined ? null : new Date(lostUntilMs);
  await sql`
    update ledger_place set server = at.here, lost_until = coalesce(${lost}::timestamptz, lost_until)
    from (${HERE}) as at`.execute(db);
  return readPlace(db);
}

/** A call that is to be sent once, and since when: it may have left already, if the database has lost its claim. */
export interface Sending extends Business {
  writer: Writer;
  /** When the try was first asked for (Unix milliseconds). */
  sinceMs: number;
  /** The claim's own, in the events. */
  subject: string;
  /** Of its events, those that tell of the claim; default: all. */
  kinds?: readonly string[];
  /** That of the document that it belongs to. */
  document?: string | undefined;
}

/**
 * Whether a restore may have lost the claim: the try was asked for before it, or the call is of a run that carries on one
 * that was at work before it (a reset, a restart), or whose row was lost. What is written of the claim since then holds.
 */
export function mayBeLost({ writer, sinceMs, subject, kinds, document, ...business }: Sending): RawBuilder<boolean> {
  const { connection, business_id } = businessColumns(business);
  return sql<boolean>`may_be_lost(
    ${connection}, ${business_id}, ${subject}, ${document ?? null}, ${kinds ? [...kinds] : null}::text[],
    ${storableText(writer.runId)}, ${new Date(sinceMs)})`;
}
