import { sql } from "kysely";

import {
  DOCUMENT_FINDINGS,
  type DocumentToReconcile,
  type FindingKind,
  PAYMENT_FINDINGS,
  type PaymentComparison,
  type ReconcileFindings,
  type SaleDocument,
} from "../../contract/index.ts";
import type { Database, Queries } from "../database.ts";
import { appendEvents, type Business, businessColumns, type Writer, writerColumns } from "../events/chain.ts";
import { clockMs } from "../statements.ts";
import { storableJson, storableText } from "../storable-text.ts";
import { differences, isBehind, isFinal } from "./compare-document.ts";
import { GIVEN_UP } from "./figures.ts";
import { type Against, type Found, otherBusinesses, paymentFindings, synchronised } from "./payment-findings.ts";

/**
 * What the service answered about a document when it was asked for it. `message`: why that says nothing, without what a
 * message must not hold.
 */
export type DocumentAnswer =
  | { kind: "document"; document: SaleDocument }
  | { kind: "not-there" }
  | { kind: "unreadable"; message: string };

export interface ToldAnswer {
  answer: DocumentAnswer;
  /** When the service was asked, by the worker's clock. */
  askedAtMs: number;
}

const COMPARE_WITHIN_MS = 60_000;

export type Reconciliation = ReturnType<typeof createReconciliation>;

/** Functions throw LedgerUnavailableError while nothing can be said. */
export function createReconciliation(database: Database) {
  return {
    /** Documents that the service has, and has not yet been seen to tell as final and the same, by type and number. */
    documents: (business: Business, after: DocumentToReconcile | undefined, limit: number) =>
      database.transact((db) => listDocuments(db, business, after, limit)),
    /** Holds a document against what the service told of it when it was asked. */
    holdDocument: (business: Business, document: DocumentToReconcile, told: ToldAnswer, writer: Writer) =>
      database.transact((db) => holdDocument(db, business, document, told, writer)),
    /** Supplier invoices against bill payments, as the ledger has them, once it has all of both. */
    holdPayments: (business: Business, against: Against, writer: Writer) =>
      holdPayments(database, business, against, writer),
    findings: (business: Business, limit: number) => database.transact((db) => readFindings(db, business, limit)),
    /** How many documents the service has told as final and the same, and have not changed since. */
    settled: (business: Business): Promise<number> =>
      database.transact(async (db) => {
        const { count } = await db
          .selectFrom("documents")
          .select((eb) => eb.fn.countAll<string>().as("count"))
          .where((eb) => eb.and(businessColumns(business)))
          .where("document_id", "is not", null)
          .where(sql<boolean>`reconciled_event = event_number`)
          .executeTakeFirstOrThrow();
        return Number(count);
      }),
  };
}

async function holdPayments(
  database: Database,
  business: Business,
  against: Against,
  writer: Writer,
): Promise<PaymentComparison> {
  const { known, found } = await database.transact(async (db) => {
    const others = await otherBusinesses(db, business, against.payers);
    const comparison = await synchronised(db, business, against.accounting, others);
    const isKnown = comparison.kind === "compared";
    return { known: comparison, found: isKnown && (await paymentFindings(db, business, against, others)) };
  }, COMPARE_WITHIN_MS);
  if (found) await replaceAllFindings(database, business, PAYMENT_FINDINGS, found, writer);
  return known;
}

async function listDocuments(
  db: Queries,
  business: Business,
  after: DocumentToReconcile | undefined,
  limit: number,
): Promise<DocumentToReconcile[]> {
  const rows = await db
    .selectFrom("documents")
    .select(["type", "number", "document_id"])
    .where((eb) => eb.and(businessColumns(business)))
    .where("document_id", "is not", null)
    .where(sql<boolean>`reconciled_event is distinct from event_number`)
    .where(sql<boolean>`(type, number) > (${after?.type ?? ""}, ${after?.number ?? ""})`)
    .orderBy("type")
    .orderBy("number")
    .limit(limit)
    .execute();
  return rows.map(({ type, number, document_id }) => ({ type, number, saleId: document_id ?? "" }));
}

/**
 * @returns `final`: the same, and not asked for again until the ledger knows another state; `unreadable`: what was found
 * before stands; `given-up`: rejected, and its sale or credit note is cancelled, but it could still be resubmitted in the
 * API's dashboard
 */
async function holdDocument(
  db: Queries,
  business: Business,
  { type, number, saleId }: DocumentToReconcile,
  { answer, askedAtMs }: ToldAnswer,
  writer: Writer,
): Promise<"final" | "not-final" | "given-up" | "differs" | "unreadable"> {
  const { connection, business_id } = businessColumns(business);
  const key = sql<boolean>`(connection, business_id, type, number) = (${connection}, ${business_id}, ${type}, ${storableText(number)})`;
  const row = await db
    .selectFrom("documents")
    .select(["document", "event_number", "workflow_id", "as_of", "answered_at"])
    .select(GIVEN_UP.as("given_up"))
    .where(key)
    .executeTakeFirst();
  const kept = row?.document as SaleDocument | null | undefined;
  // Another document has taken its place since it was listed.
  if (!row || kept?.id !== saleId) return "not-final";
  // Its own workflow has read it since: the answer says what was, and the next reconciliation asks again.
  if (row.answered_at !== null && row.answered_at.getTime() > askedAtMs) return "not-final";
  const found = findingsOf(kept, answer, row.workflow_id);
  const kinds = answer.kind === "unreadable" ? found.map(({ kind }) => kind) : DOCUMENT_FINDINGS;
  await replaceFindings(db, business, { kinds, subjects: [saleId] }, found, writer);
  if (answer.kind === "unreadable") return "unreadable";
  if (answer.kind === "not-there" || found.length > 0) return "differs";
  if (!isFinal(answer.document, (await clockMs(db)) - row.as_of.getTime()))
    return row.given_up ? "given-up" : "not-final";
  await db
    .updateTable("documents")
    .set({ reconciled_event: row.event_number })
    .where(key)
    .where("event_number", "=", row.event_number)
    .execute();
  return "final";
}

/** One, or none. */
function findingsOf(kept: SaleDocument, answer: DocumentAnswer, workflowId: string): Found[] {
  const name = `${kept.type === "sale" ? "The sale" : "The credit note"} ${kept.traderInvoiceNumber} (${kept.id})`;
  const found = (kind: FindingKind, reason: string) => [{ kind, subject: kept.id, reason }];
  if (answer.kind === "unreadable")
    return found("document-unreadable", `${name} could not be compared. ${answer.message}`);
  if (answer.kind === "not-there")
    return found(
      "document-not-there",
      `${name} is ${kept.status} in the ledger, and the service knows no such document.`,
    );
  const differing = differences(kept, storableJson(answer.document));
  if (differing.length === 0) return [];
  const reason = `${name}: ${differing.join("; ")}.`;
  return isBehind(kept, answer.document)
    ? found("document-behind", `${reason} Its workflow is ${workflowId}.`)
    : found("document-differs", reason);
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
async function replaceFindings(
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

/** Subjects that one transaction writes: a worker that writes a sale of the business waits for it. */
const SUBJECTS_AT_A_TIME = 500;

/**
 * The same for all that was ever found of these kinds, in pieces. A reader in between finds some as they were
 * before; a run that is stopped there finds the rest again.
 */
async function replaceAllFindings(
  database: Database,
  business: Business,
  kinds: readonly FindingKind[],
  findings: readonly Found[],
  writer: Writer,
): Promise<void> {
  const standing = await database.query((db) =>
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
async function readFindings(db: Queries, business: Business, limit: number): Promise<ReconcileFindings> {
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
