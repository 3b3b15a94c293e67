import { sql } from "kysely";

import type { FindingKind, ReconcileFindings } from "../../contract/index.ts";
import type { Queries } from "../database.ts";
import { appendEvents } from "../events/append-events.ts";
import type { Business, Writer } from "../events/chain.ts";
import { businessColumns, writerColumns } from "../events/row.ts";
import { storableText } from "../storable-text.ts";

/** One statement may have 65,535 parameters. */
const ROWS_A_STATEMENT = 1_000;

export interface Found {
  kind: FindingKind;
  subject: string;
  reason: string;
  nextStep: string;
}

/**
 * Puts what was found in place of what stood of these kinds (and of this subject), each once, and tells in the business's
 * events of what is new, or other than before, and of what is gone.
 */
export async function replaceFindings(
  db: Queries,
  business: Business,
  { kinds, subject }: { kinds: readonly FindingKind[]; subject?: string },
  findings: readonly Found[],
  writer: Writer,
): Promise<void> {
  const scope = businessColumns(business);
  const keyOf = (one: Pick<Found, "kind" | "subject">) => `${one.kind} ${one.subject}`;
  const found = findings.map((one) => {
    return { ...one, subject: storableText(one.subject), reason: storableText(one.reason) };
  });
  let query = db
    .selectFrom("reconcile_findings")
    .select(["kind", "subject", "reason", "next_step as nextStep"])
    .where((eb) => eb.and(scope))
    .where("gone_at", "is", null)
    .where("kind", "in", kinds);
  if (subject !== undefined) query = query.where("subject", "=", storableText(subject));
  const before = new Map((await query.execute()).map((row) => [keyOf(row), row]));
  const news = found.filter((one) => before.get(keyOf(one))?.reason !== one.reason);
  for (const one of found) before.delete(keyOf(one));
  const gone = [...before.values()];
  const events = [
    ...news.map((content) => ({ kind: "finding-raised", subject: keyOf(content), content, writer })),
    ...gone.map((content) => ({ kind: "finding-gone", subject: keyOf(content), content, writer })),
  ];
  const numbers = await appendEvents(db, business, events);
  const rows = news.map(({ nextStep, ...one }, index) => ({
    ...scope,
    ...one,
    next_step: nextStep,
    since: sql<Date>`clock_timestamp()`,
    gone_at: null,
    event_number: numbers[index] ?? 0,
    ...writerColumns(writer),
  }));
  for (let at = 0; at < rows.length; at += ROWS_A_STATEMENT)
    await db
      .insertInto("reconcile_findings")
      .values(rows.slice(at, at + ROWS_A_STATEMENT))
      .onConflict((conflict) =>
        conflict.columns(["connection", "business_id", "kind", "subject"]).doUpdateSet((eb) => ({
          reason: eb.ref("excluded.reason"),
          next_step: eb.ref("excluded.next_step"),
          since: eb.ref("excluded.since"),
          gone_at: null,
          event_number: eb.ref("excluded.event_number"),
          ...writerColumns(writer),
        })),
      )
      .execute();
  await sql`
    update reconcile_findings set gone_at = clock_timestamp()
    from unnest(${gone.map(({ kind }) => kind)}::text[], ${gone.map((one) => one.subject)}::text[]) as gone (kind, subject)
    where connection = ${scope.connection} and business_id = ${scope.business_id}
      and reconcile_findings.kind = gone.kind and reconcile_findings.subject = gone.subject`.execute(db);
}

/** What stands now, the eldest of each kind first. */
export async function readFindings(db: Queries, business: Business, limit: number): Promise<ReconcileFindings> {
  const standing = db
    .selectFrom("reconcile_findings")
    .where((eb) => eb.and(businessColumns(business)))
    .where("gone_at", "is", null);
  const counts = await standing
    .select((eb) => ["kind", eb.fn.countAll<string>().as("count")])
    .groupBy("kind")
    .execute();
  const first = await standing
    .select(["kind", "subject", "reason", "next_step as nextStep", "since"])
    .orderBy("kind")
    .orderBy("since")
    .orderBy("subject")
    .limit(limit)
    .execute();
  const byKind: Partial<Record<FindingKind, number>> = {};
  for (const { kind, count } of counts) byKind[kind] = Number(count);
  return {
    count: counts.reduce((sum, { count }) => sum + Number(count), 0),
    byKind,
    first: first.map(({ since, ...finding }) => ({ ...finding, sinceMs: since.getTime() })),
  };
}
