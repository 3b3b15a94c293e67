import { sql } from "kysely";

import type { FindingKind, ReconcileFindings } from "../../contract/index.ts";
import type { Database, Queries } from "../database.ts";
import { appendEvents } from "../events/append-events.ts";
import type { Business, Writer } from "../events/chain.ts";
import { businessColumns, writerColumns } from "../events/row.ts";
import { storableText } from "../storable-text.ts";

export interface Found {
  kind: FindingKind;
  subject: string;
  reason: string;
}

const NEXT_STEPS: Record<FindingKind, string> = {
  "document-behind":
    "Its workflow reads it at its next look. Where that has ended, adopt the document: start its sale with this saleId.",
  "document-differs": "Compare with the receipt and with the authority's page; what was signed counts.",
  "document-not-there": "Ask the service what became of it.",
  "document-unreadable":
    "Look at it in the service's dashboard, and tell the service of its answer. It is asked for again at the next reconciliation.",
  "payment-without-number":
    "Write the supplier's invoice number into the bill in the accounting system, and synchronise again.",
  "payment-without-invoice": "Correct the number in the accounting system, or ask the supplier for its fiscal invoice.",
  "payment-of-other-supplier":
    "Compare the supplier's names, and correct the one that is wrong; or pay the right supplier.",
  "payment-of-several":
    "See in the compliance dashboard which of them counts, and have the other one rejected. Where all were rejected, ask for the money back, or for one of them to be reviewed again.",
  "payment-in-other-currency": "Compare by hand, at the rate of the day of the payment.",
  "payment-without-amount": "Enter the amount of the payment in the accounting system, and synchronise again.",
  "paid-although-rejected": "Ask for the money back, or for the invoice to be reviewed again.",
  "paid-another-amount":
    "Pay the rest, or ask for what was paid too much; where a payment covers several bills, enter one for each.",
  "not-paid": "Pay it, or enter its number with the payment in the accounting system.",
};

/**
 * Puts what was found of these subjects in place of what stood of them of these kinds, each once, and tells in the
 * business's events of what is new, or other than before, and of what is gone.
 */
export async function replaceFindings(
  db: Queries,
  business: Business,
  { kinds, subjects }: { kinds: readonly FindingKind[]; subjects: readonly string[] },
  findings: readonly Found[],
  writer: Writer,
): Promise<void> {
  const scope = businessColumns(business);
  const keyOf = (one: Pick<Found, "kind" | "subject">) => `${one.kind} ${one.subject}`;
  const found = findings.map((one) => {
    return { ...one, subject: storableText(one.subject), reason: storableText(one.reason) };
  });
  const standing = await db
    .selectFrom("reconcile_findings")
    .select(["kind", "subject", "reason"])
    .where((eb) => eb.and(scope))
    .where("gone_at", "is", null)
    .where("kind", "in", kinds)
    .where("subject", "in", subjects.map(storableText))
    .execute();
  const before = new Map(standing.map((row) => [keyOf(row), row]));
  const news = found.filter((one) => before.get(keyOf(one))?.reason !== one.reason);
  for (const one of found) before.delete(keyOf(one));
  const gone = [...before.values()];
  const events = [
    ...news.map((content) => ({ kind: "finding-raised", subject: keyOf(content), content, writer })),
    ...gone.map((content) => ({ kind: "finding-gone", subject: keyOf(content), content, writer })),
  ];
  const numbers = await appendEvents(db, business, events);
  const rows = news.map((one, index) => ({
    ...scope,
    ...one,
    since: sql<Date>`clock_timestamp()`,
    gone_at: null,
    event_number: numbers[index] ?? 0,
    ...writerColumns(writer),
  }));
  if (rows.length > 0)
    await db
      .insertInto("reconcile_findings")
      .values(rows)
      .onConflict((conflict) =>
        conflict.columns(["connection", "business_id", "kind", "subject"]).doUpdateSet((eb) => ({
          reason: eb.ref("excluded.reason"),
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

/** Subjects that one transaction writes: whoever writes a sale of the business waits for it. */
const SUBJECTS_AT_A_TIME = 500;

/**
 * The same for all that was ever found of these kinds, in pieces. Whoever reads in between finds some as they were
 * before; a run that is stopped there finds the rest again.
 */
export async function replaceAllFindings(
  database: Database,
  business: Business,
  kinds: readonly FindingKind[],
  findings: readonly Found[],
  writer: Writer,
): Promise<void> {
  const standing = await database.transact((db) =>
    db
      .selectFrom("reconcile_findings")
      .select("subject")
      .where((eb) => eb.and(businessColumns(business)))
      .where("gone_at", "is", null)
      .where("kind", "in", kinds)
      .execute(),
  );
  const all = [...new Set([...findings, ...standing].map(({ subject }) => subject))];
  for (let at = 0; at < all.length; at += SUBJECTS_AT_A_TIME) {
    const subjects = new Set(all.slice(at, at + SUBJECTS_AT_A_TIME));
    const found = findings.filter(({ subject }) => subjects.has(subject));
    await database.transact((db) => replaceFindings(db, business, { kinds, subjects: [...subjects] }, found, writer));
  }
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
    .select(["kind", "subject", "reason", "since"])
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
    first: first.map(({ since, ...finding }) => {
      return { ...finding, nextStep: NEXT_STEPS[finding.kind], sinceMs: since.getTime() };
    }),
  };
}
