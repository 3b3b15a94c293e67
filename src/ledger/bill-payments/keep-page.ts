import { type Selectable, sql } from "kysely";

import type { BillPayment } from "../../contract/index.ts";
import type { Queries } from "../database.ts";
import { accountingChain } from "../events/accounting-chain.ts";
import { appendEvents } from "../events/append-events.ts";
import type { Writer } from "../events/chain.ts";
import { storableText } from "../storable-text.ts";
import type { BillPaymentsTable } from "../tables/accounting.ts";
import type { KeepBillPaymentsRequest, KeptBillPayments } from "./bill-payments.ts";
import { contentColumns, lineColumns } from "./columns.ts";
import { type Change, seenEvent } from "./events.ts";

type Row = Pick<
  Selectable<BillPaymentsTable>,
  "sync_status" | "status_observed_at" | "observed_at" | "missing_since" | "content_hash" | "body"
>;

interface Seen {
  id: string;
  payment: BillPayment;
  columns: ReturnType<typeof contentColumns>;
}

interface News {
  one: Seen;
  changes: Change[];
  /** What a later look has said of it is kept. */
  content: boolean;
}

/**
 * Keeps one page, and tells of what is new in it in the connection's events. A page that is kept twice changes nothing the second time,
 * and one that was asked for before what the row has was asked for does not replace it: an attempt that was given up may still be on its
 * way.
 */
export async function keepPage(db: Queries, request: KeepBillPaymentsRequest): Promise<KeptBillPayments> {
  const { connection, billPayments, writer } = request;
  await lockConnection(db, connection);
  // Of an id that a page has twice, the last one counts.
  const byId = new Map(
    billPayments.map((payment): [string, Seen] => {
      const id = storableText(payment.id);
      return [id, { id, payment, columns: contentColumns(payment) }];
    }),
  );
  const rows = byId.size;
  const leftOut = (request.leftOut ?? []).map(storableText);
  const known = await readRows(db, connection, [...byId.keys(), ...leftOut]);
  // Listed, and not readable: as far as is known it is what it was.
  for (const id of leftOut) {
    const row = known.get(id);
    if (row && !byId.has(id)) byId.set(id, asKept(id, row));
  }
  const news: News[] = [];
  const rest: string[] = [];
  for (const one of byId.values()) {
    const found = newsOf(known.get(one.id), one, request);
    if (found) news.push(found);
    else rest.push(one.id);
  }
  const events = news.map(({ one, changes, content }) =>
    seenEvent(one.id, changes, content ? one.columns.body : undefined, writer),
  );
  const numbers = await appendEvents(db, accountingChain(connection), events);
  const eventNumbers = new Map(news.map(({ one }, index) => [one.id, numbers[index] ?? 0]));
  await writeContent(db, request, news, eventNumbers);
  await writeOthers(db, request, news, eventNumbers);
  await mark(db, request, [...byId.keys()]);
  const added = news.filter(({ one }) => !known.has(one.id)).length;
  const changed = news.filter(({ changes }) => changes.some(isChange)).length;
  const leftOutKnown = byId.size - rows;
  return { rows, added, changed, ...(leftOutKnown > 0 && { leftOutKnown }) };
}

function asKept(id: string, row: Row): Seen {
  const payment = JSON.parse(row.body) as BillPayment;
  return { id, payment, columns: contentColumns(payment) };
}

/** Undefined: nothing that the row does not say already, or that a later look has not said otherwise. */
function newsOf(row: Row | undefined, one: Seen, { status, askedAtMs }: KeepBillPaymentsRequest): News | undefined {
  if (row === undefined) {
    return { one, content: true, changes: [{ what: "first-seen", before: null, after: { status: status ?? null } }] };
  }
  const changes: Change[] = [];
  const isLate = row.observed_at.getTime() > askedAtMs;
  const statusIsLate = (row.status_observed_at?.getTime() ?? 0) > askedAtMs;
  if (status !== undefined && !statusIsLate && row.sync_status !== status)
    changes.push({ what: "status", before: row.sync_status, after: status });
  const content = !isLate && row.content_hash !== one.columns.content_hash;
  if (content) {
    const [before, after] = differing(JSON.parse(row.body) as Fields, JSON.parse(one.columns.body) as Fields);
    changes.push({ what: "content", before, after });
  }
  if (row.missing_since !== null && !isLate) changes.push({ what: "returned", before: null, after: null });
  return changes.length === 0 ? undefined : { one, changes, content };
}

/** A status that is learned for the first time is none. */
function isChange({ what, before }: Change): boolean {
  return what !== "first-seen" && (what !== "status" || before !== null);
}

type Fields = Record<string, unknown>;

/** Of two objects the fields in which they differ. */
function differing(before: Fields, after: Fields): [Fields, Fields] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const others = names.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  const only = (fields: Fields): Fields =>
    Object.fromEntries(others.filter((name) => Object.hasOwn(fields, name)).map((name) => [name, fields[name]]));
  return [only(before), only(after)];
}

/** Rows that are new, or say something else. */
async function writeContent(
  db: Queries,
  { connection, askedAtMs, writer }: KeepBillPaymentsRequest,
  news: readonly News[],
  eventNumbers: ReadonlyMap<string, number>,
): Promise<void> {
  const written = news.filter(({ content }) => content);
  if (written.length === 0) return;
  const rows = written.map(({ one }) => ({
    connection,
    bill_payment_id: one.id,
    ...one.columns,
    observed_at: new Date(askedAtMs),
    event_number: eventNumbers.get(one.id) ?? 0,
    ...writerColumns(writer),
  }));
  const replaced = Object.keys(rows[0] ?? {}).filter((name) => name !== "connection" && name !== "bill_payment_id");
  await db
    .insertInto("bill_payments")
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(["connection", "bill_payment_id"]).doUpdateSet({
        ...Object.fromEntries(replaced.map((name) => [name, sql.ref(`excluded.${name}`)])),
        changed_at: sql`clock_timestamp()`,
      }),
    )
    .execute();
  const ids = written.map(({ one }) => one.id);
  await db
    .deleteFrom("bill_payment_lines")
    .where("connection", "=", connection)
    .where(sql<boolean>`bill_payment_id = any(${ids})`)
    .execute();
  const lines = written.flatMap(({ one: { id, payment } }) =>
    lineColumns(payment).map((line) => ({ connection, bill_payment_id: id, ...line })),
  );
  // A statement takes 65,535 parameters, and a payment may have any number of lines.
  for (let from = 0; from < lines.length; from += 5_000) {
    await db
      .insertInto("bill_payment_lines")
      .values(lines.slice(from, from + 5_000))
      .execute();
  }
}

/** Of rows whose content is not new: that they are there again, or have another status (which {@link mark} writes). */
async function writeOthers(
  db: Queries,
  { connection, writer }: KeepBillPaymentsRequest,
  news: readonly News[],
  eventNumbers: ReadonlyMap<string, number>,
): Promise<void> {
  const others = news.filter(({ content }) => !content).map(({ one }) => one.id);
  if (others.length === 0) return;
  const numbers = others.map((id) => eventNumbers.get(id) ?? 0);
  const { workflow_id, run_id } = writerColumns(writer);
  await sql`
    update bill_payments set event_number = news.number, changed_at = clock_timestamp(),
      workflow_id = ${workflow_id}, run_id = ${run_id}
    from unnest(${others}::text[], ${numbers}::bigint[]) as news (id, number)
    where connection = ${connection} and bill_payment_id = news.id`.execute(db);
}

/** What a look leaves on every row that it saw, unless a later one was there before it. */
async function mark(
  db: Queries,
  { connection, status, round, askedAtMs }: KeepBillPaymentsRequest,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  const at = new Date(askedAtMs);
  const list = round === undefined ? sql`` : sql`, listed_by = ${round}`;
  const statusRound = round === undefined ? sql`` : sql`, status_listed_by = ${round}`;
  const statusSet = sql`, unlisted_by = null,
    sync_status = case when status_observed_at > ${at} then sync_status else ${status ?? null}::text end,
    status_observed_at = greatest(status_observed_at, ${at})${statusRound}`;
  await sql`
    update bill_payments set
      missing_since = case when observed_at > ${at} then missing_since end,
      observed_at = greatest(observed_at, ${at})${status === undefined ? list : statusSet}
    where connection = ${connection} and bill_payment_id = any(${ids})`.execute(db);
}

async function readRows(db: Queries, connection: string, ids: readonly string[]): Promise<Map<string, Row>> {
  const rows = await db
    .selectFrom("bill_payments")
    .select(["bill_payment_id", "sync_status", "status_observed_at", "observed_at", "missing_since"])
    .select(["content_hash", "body"])
    .where("connection", "=", connection)
    .where(sql<boolean>`bill_payment_id = any(${ids})`)
    .execute();
  return new Map(rows.map(({ bill_payment_id, ...row }) => [bill_payment_id, row]));
}

export function writerColumns({ workflowId, runId }: Writer): { workflow_id: string; run_id: string } {
  return { workflow_id: storableText(workflowId), run_id: storableText(runId) };
}

/** Two transactions about one connection follow each other: a page that was given up may still be on its way. */
export async function lockConnection(db: Queries, connection: string): Promise<void> {
  const name = JSON.stringify(["bill-payments", connection]);
  await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(db);
}
