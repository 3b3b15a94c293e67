import { randomUUID } from "node:crypto";
import { sql } from "kysely";

import { DOCUMENT_FINDINGS, NO_BUSINESS } from "../../contract/index.ts";
import { toJson } from "../claims/claim.ts";
import type { Database, Queries } from "../database.ts";
import { DOCUMENT_SAVED, documentColumns, type RowContent, subjectOf } from "../documents/row.ts";
import { LedgerError } from "../errors.ts";
import {
  appendEvents,
  type Business,
  canonicalJson,
  type Chain,
  contentDigest,
  ERASED_KIND,
  type ErasingContent,
  type Writer,
} from "../events/chain.ts";
import { roleOf } from "../migrate.ts";
import { assignments, hasValues } from "../statements.ts";
import { MOVEMENTS } from "../stock/movement.ts";
import { storableText } from "../storable-text.ts";
import type { RowOf } from "../tables.ts";
import { type Erased, namesCustomer, redactionOf } from "./redact.ts";

/** Of which document what was erased: written down outside of the database, so that a restore of it can be mended. */
export interface Erasure {
  connection: string;
  /** `-` for none. */
  businessId: string;
  type: "sale" | "credit_note";
  number: string;
  erased: Erased;
}

export interface EraseRequest {
  /** Documents dated before this day (`YYYY-MM-DD`), or those of a customer. */
  which: { before: string } | { customerPin: string };
  /** The first day whose documents the law has kept with name and PIN: of these only telephone and email go. */
  keptFrom: string;
  /** Nothing is changed. */
  dryRun: boolean;
  writer: Writer;
  /** Keeps what is about to be erased, before it is. */
  keep: (erasures: readonly Erasure[]) => Promise<void>;
}

/** What became of a sale, or of a credit note without one. */
export interface ErasedDocument extends Erasure {
  /** Not a word of the customer was there, or everything had gone. */
  result: "erased" | "nothing-to-erase" | "still-open";
  /** How many of its events have lost something. */
  events: number;
}

const PAGE = 500;
const WITHIN_MS = 60_000;

/**
 * Erases what is said of customers, sale by sale with its credit notes, each in a transaction: from the rows of the
 * documents and their movements, from the findings about them, and from all their events. What is still open is left. To
 * be repeated freely.
 * @param database as the owner of the tables
 * @throws LedgerError where it is not the owner; LedgerUnavailableError
 */
export async function* erase(database: Database, request: EraseRequest): AsyncGenerator<ErasedDocument> {
  await database.query(requireOwner);
  // Corrected sales, and those that they correct: what becomes of one becomes of the other.
  const covered = new Set<string>();
  for (let after: Found | undefined; ;) {
    const last = after;
    const page = await database.transact((db) => find(db, request.which, last), WITHIN_MS);
    for (const found of page) {
      if (covered.delete(keyOf(found))) continue;
      const { others, ...one } = await eraseOne(database, found, request);
      for (const other of others) covered.add(keyOf(other));
      yield one;
    }
    after = page.at(-1);
    if (page.length < PAGE) return;
  }
}

/** Erases once more what was erased before the database was restored; never more than the law lets go by now. */
export async function* eraseAgain(
  database: Database,
  erasures: AsyncIterable<Erasure>,
  { writer, keptFrom }: Pick<EraseRequest, "writer" | "keptFrom">,
): AsyncGenerator<ErasedDocument> {
  await database.query(requireOwner);
  for await (const { businessId, erased: atMost, ...of } of erasures) {
    const found = { ...of, business_id: businessId };
    const order = { atMost, keptFrom, dryRun: false, writer, keep: async () => undefined };
    const { others: _others, ...one } = await eraseOne(database, found, order);
    yield one;
  }
}

async function requireOwner(db: Queries): Promise<void> {
  const { rows } = await sql<{ may: boolean }>`select has_table_privilege('events', 'update') as may`.execute(db);
  if (rows[0]?.may === true) return;
  throw new LedgerError(
    `The login ${await roleOf(db)} may not change events: give LEDGER_OWNER_URL, the address with the login that owns the ledger's tables.`,
  );
}

type Found = Chain & { type: "sale" | "credit_note"; number: string };

function keyOf({ connection, business_id, type, number }: Found): string {
  return canonicalJson([connection, business_id, type, number]);
}

/** Sales, and credit notes whose sale the ledger does not have, in the order of their keys. */
async function find(db: Queries, which: EraseRequest["which"], after: Found | undefined): Promise<Found[]> {
  const isWanted =
    "before" in which
      ? sql<boolean>`d.document_date < ${which.before}`
      : sql<boolean>`(${ofCustomer("d", which.customerPin)} or exists (
          select from documents as n
          where (n.connection, n.business_id, n.original_document_id) = (d.connection, d.business_id, d.document_id)
            and ${ofCustomer("n", which.customerPin)}))`;
  const isAfter = after
    ? sql`(d.connection, d.business_id, d.type, d.number) > (${after.connection}, ${after.business_id}, ${after.type}, ${after.number})`
    : sql`true`;
  const { rows } = await sql<Found>`
    select d.connection, d.business_id, d.type, d.number from documents as d
    where ${isWanted} and ${isAfter} and (d.type = 'sale' or not exists (
      select from documents as s
      where (s.connection, s.business_id, s.type, s.document_id)
        = (d.connection, d.business_id, 'sale', d.original_document_id)))
    order by d.connection, d.business_id, d.type, d.number limit ${PAGE}`.execute(db);
  return rows;
}

/** By the text, and not by the JSON: what was asked for may hold characters that the database refuses in it. */
function ofCustomer(alias: string, pin: string) {
  const asked = `"pin":${canonicalJson(pin)}`;
  return sql<boolean>`(${sql.ref(`${alias}.customer_pin`)} = ${pin} or strpos(${sql.ref(`${alias}.asked`)}::text, ${asked}) > 0)`;
}

type Order = Omit<EraseRequest, "which"> & { atMost?: Erased };

type DocumentOfSale = Pick<
  RowOf<"documents">,
  | "type"
  | "number"
  | "document_date"
  | "document_id"
  | "original_document_id"
  | "claim"
  | "claim_decision"
  | "needs_person_since"
  | "stage"
  | "closed"
>;
type MovementOfSale = Pick<RowOf<"movements">, "reference_id" | "outcome" | "decision">;
type EventOfSale = Pick<RowOf<"events">, "number" | "subject" | "kind" | "content" | "salt" | "digest">;

/** @returns with the other sales that went with it */
async function eraseOne(
  database: Database,
  found: Found,
  order: Order,
): Promise<ErasedDocument & { others: readonly Found[] }> {
  const { connection, business_id, type, number } = found;
  const chain = { connection, business_id };
  const of = { connection, businessId: business_id, type, number };
  return database.transact(async (db) => {
    const documents = await lockSale(db, found);
    const others = documents
      .filter((one) => one.type === "sale" && one.number !== number)
      .map((one) => ({ ...chain, type: "sale" as const, number: one.number }));
    const isLetGo: boolean = documents.every(({ document_date }) => document_date < order.keptFrom);
    const erased: Erased = isLetGo && order.atMost !== "contact" ? "customer" : "contact";
    const untouched = (result: ErasedDocument["result"]) => ({ ...of, erased, result, events: 0, others });
    if (documents.length === 0) return untouched("nothing-to-erase");
    if (documents.some((one) => isOpen(one, documents))) return untouched("still-open");
    const movements = await lockWriters(db, chain, documents);
    const events = await eventsOf(db, chain, documents, movements);
    const contents = events.map(({ content }) => JSON.parse(content) as unknown);
    if (!contents.some((content) => namesCustomer(erased, content))) return untouched("nothing-to-erase");
    const redacted = redactionOf(erased, contents);
    const changed = events.flatMap((event, index) => {
      const content = canonicalJson(redacted(contents[index]));
      if (content === event.content) return [];
      // A new salt for what is left: of what is erased in a second step the first one's says nothing either.
      return [{ ...event, content, salt: randomUUID(), digest: event.digest ?? contentDigest(event) }];
    });
    const result = { ...of, erased, result: "erased", events: changed.length, others } as const;
    if (order.dryRun) return result;
    await kept(
      order,
      documents.map((one) => ({ ...of, type: one.type, number: one.number, erased })),
    );
    await writeEvents(db, chain, found, { erased, changed, writer: order.writer });
    await writeRows(db, chain, { documents, movements, events, redacted });
    return result;
  }, WITHIN_MS);
}

/** @throws LedgerError, with which nothing is erased */
async function kept({ keep }: Order, erasures: readonly Erasure[]): Promise<void> {
  try {
    await keep(erasures);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new LedgerError(`What is to be erased cannot be written down, so it stays: ${why}`, { cause: error });
  }
}

/** What the run, or a person, has still to do, or may still be sent: it is erased once that is over. */
function isOpen(
  { claim, needs_person_since, stage, closed, document_id }: DocumentOfSale,
  all: readonly DocumentOfSale[],
): boolean {
  const isCredited = all.some((one) => one.stage === "credited" && one.original_document_id === document_id);
  const hasEnded = ENDED.includes(stage) || (stage === "crediting" && isCredited);
  return claim === "in-doubt" || needs_person_since !== null || closed !== null || !hasEnded;
}
const ENDED = ["completed", "credited", "cancelled"];

/**
 * The sale's row, those of the sales that it corrects or is corrected by, and those of their credit notes; until the
 * transaction ends no other one changes them.
 */
async function lockSale(db: Queries, { connection, business_id, type, number }: Found): Promise<DocumentOfSale[]> {
  const ofChain = sql`(d.connection, d.business_id) = (${connection}, ${business_id})`;
  const { rows } = await sql<DocumentOfSale>`
    with recursive sale as (
      select d.type, d.number, d.document_id, d.replaces, d.corrected_by from documents as d
      where ${ofChain} and (d.type, d.number) = (${type}, ${number})
      union
      select d.type, d.number, d.document_id, d.replaces, d.corrected_by from sale as s join documents as d on ${ofChain}
        and s.type = 'sale' and (d.type = 'credit_note' and d.original_document_id = s.document_id
          or d.type = 'sale' and d.number in (s.replaces, s.corrected_by)))
    select d.type, d.number, d.document_date, d.document_id, d.original_document_id, d.claim_decision,
      -- A row that a restore had lost, and whose document is known, is in doubt for ever; there is nothing to be sent.
      case when d.request <> 'null' or d.document_id is null then d.claim end as claim,
      d.needs_person_since, case when d.failed then 'cancelled' else d.stage end as stage,
      case when not d.failed then d.closed end as closed
    from documents as d where ${ofChain} and (d.type, d.number) in (select type, number from sale)
    order by d.type desc, d.number for update of d`.execute(db);
  return rows;
}

/**
 * In the order in which others lock them: the movements, then the head of the chain. From then on nobody adds an event
 * that names a customer.
 * @returns the documents' movements
 */
async function lockWriters(db: Queries, chain: Chain, documents: readonly DocumentOfSale[]): Promise<MovementOfSale[]> {
  const { rows } = await sql<MovementOfSale>`
    select reference_id, outcome, decision from movements
    where ${hasValues(chain)} and (type, number) in (${keysOf(documents)})
    order by reference_id for update`.execute(db);
  await sql`select from event_heads where ${hasValues(chain)} for update`.execute(db);
  return rows;
}

/** Every event that tells of these documents, of their stock movements, or of what was found about them. */
async function eventsOf(
  db: Queries,
  chain: Chain,
  documents: readonly DocumentOfSale[],
  movements: readonly MovementOfSale[],
): Promise<EventOfSale[]> {
  const ofMovements = movements.map(({ reference_id }) => `${MOVEMENTS.noun} ${reference_id}`);
  const told = await eventsAbout(db, chain, [...documents.map(subjectOf), ...ofMovements]);
  const found = idsIn(told).flatMap((id) => DOCUMENT_FINDINGS.map((kind) => storableText(`${kind} ${id}`)));
  return [...told, ...(await eventsAbout(db, chain, found))];
}

async function eventsAbout(db: Queries, chain: Chain, subjects: readonly string[]): Promise<EventOfSale[]> {
  const { rows } = await sql<EventOfSale>`
    select number, subject, kind, content, salt, digest from events
    where ${hasValues(chain)} and subject = any(${subjects}::text[]) and kind <> ${ERASED_KIND}
    order by number`.execute(db);
  return rows;
}

/** Of the documents that there ever were under these numbers: a rejected one may have been followed by another. */
function idsIn(events: readonly EventOfSale[]): string[] {
  const saved = events.filter(({ kind }) => kind === DOCUMENT_SAVED);
  return [...new Set(saved.flatMap(({ content }) => (JSON.parse(content) as RowContent).document?.id ?? []))];
}

function keysOf(documents: readonly DocumentOfSale[]) {
  return sql.join(documents.map(({ type, number }) => sql`(${type}, ${number})`));
}

async function writeEvents(
  db: Queries,
  chain: Chain,
  { type, number }: Found,
  { erased, changed, writer }: { erased: Erased; changed: readonly EventOfSale[]; writer: Writer },
): Promise<void> {
  const { connection, business_id } = chain;
  const business: Business = { connection, ...(business_id !== NO_BUSINESS && { businessId: business_id }) };
  const contents = Object.fromEntries(changed.map((event) => [event.number, contentDigest(event)]));
  const subject = subjectOf({ type, number });
  const content: ErasingContent = { erased, contents };
  const [by] = await appendEvents(db, business, [{ kind: ERASED_KIND, subject, content, writer }]);
  await sql`set local fiscalflow.erases = 'yes'`.execute(db);
  const column = (name: "number" | "content" | "salt" | "digest") =>
    sql`${changed.map((event) => event[name])}::${sql.raw(name === "number" ? "bigint" : "text")}[]`;
  await sql`
    update events as e set content = one.content, salt = one.salt, digest = one.digest, erased_by = ${by}
    from unnest(${column("number")}, ${column("content")}, ${column("salt")}, ${column("digest")})
      as one (number, content, salt, digest)
    where (e.connection, e.business_id, e.number) = (${connection}, ${business_id}, one.number)`.execute(db);
}

/** What the rows say from then on: the same as their events. */
async function writeRows(
  db: Queries,
  chain: Chain,
  {
    documents,
    movements,
    events,
    redacted,
  }: {
    documents: readonly DocumentOfSale[];
    movements: readonly MovementOfSale[];
    events: readonly EventOfSale[];
    redacted: (json: unknown) => unknown;
  },
): Promise<void> {
  for (const row of documents) {
    const saved = events.findLast(({ subject, kind }) => kind === DOCUMENT_SAVED && subject === subjectOf(row));
    if (!saved) throw new LedgerError(`No event tells of ${row.type} ${row.number}: run \`fiscalflow ledger verify\`.`);
    const columns = documentColumns(redacted(JSON.parse(saved.content)) as RowContent);
    const claim_decision = row.claim_decision === null ? null : toJson(redacted(row.claim_decision) as object);
    const changes = assignments({ ...columns, claim_decision, claim_content: null });
    await sql`
      update documents set ${sql.join(changes)}
      where ${hasValues({ ...chain, type: row.type, number: row.number })}`.execute(db);
  }
  for (const { reference_id, ...before } of movements) {
    const [outcome, decision] = [before.outcome, before.decision].map(
      (json) => json && toJson(redacted(json) as object),
    );
    await sql`
      update movements set outcome = ${outcome ?? null}, decision = ${decision ?? null}
      where ${hasValues({ ...chain, reference_id })}`.execute(db);
  }
  const ids = idsIn(events);
  const { rows: findings } = await sql<Pick<RowOf<"reconcile_findings">, "kind" | "subject" | "reason">>`
    select kind, subject, reason from reconcile_findings
    where ${hasValues(chain)} and subject = any(${ids}::text[]) for update`.execute(db);
  for (const { kind, subject, reason: before } of findings) {
    const { reason } = redacted({ reason: before }) as { reason: string };
    await sql`
      update reconcile_findings set reason = ${reason} where ${hasValues({ ...chain, kind, subject })}`.execute(db);
  }
}
