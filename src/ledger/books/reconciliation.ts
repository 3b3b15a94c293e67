import { sql } from "kysely";

import {
  DOCUMENT_FINDINGS,
  type DocumentToReconcile,
  type FindingKind,
  PAYMENT_FINDINGS,
  type PaymentComparison,
  type PaymentRule,
  type SaleDocument,
} from "../../contract/index.ts";
import type { Database, Queries } from "../database.ts";
import type { Business, Writer } from "../events/chain.ts";
import { businessColumns } from "../events/row.ts";
import { clockMs } from "../statements.ts";
import { storableJson, storableText } from "../storable-text.ts";
import { differences, isBehind, isFinal } from "./compare-document.ts";
import { GIVEN_UP } from "./figures.ts";
import { type Found, readFindings, replaceAllFindings, replaceFindings } from "./findings.ts";
import { paymentFindings, synchronised } from "./payment-findings.ts";

/**
 * What the service answered about a document when it was asked for it. `message`: why that says nothing, without what a
 * message must not hold.
 */
export type DocumentAnswer =
  | { kind: "document"; document: SaleDocument }
  | { kind: "not-there" }
  | { kind: "unreadable"; message: string };

const COMPARE_WITHIN_MS = 60_000;

export type Reconciliation = ReturnType<typeof createReconciliation>;

/** Functions throw LedgerUnavailableError while nothing can be said. */
export function createReconciliation(database: Database) {
  return {
    /** Documents that the service has, and has not yet been seen to tell as final and the same, by type and number. */
    documents: (business: Business, after: DocumentToReconcile | undefined, limit: number) =>
      database.transact((db) => listDocuments(db, business, after, limit)),
    /** Holds a document against what the service tells of it now. */
    holdDocument: (business: Business, document: DocumentToReconcile, answer: DocumentAnswer, writer: Writer) =>
      database.transact((db) => holdDocument(db, business, document, answer, writer)),
    /** Supplier invoices against bill payments, as the ledger has them, once it has all of both. */
    holdPayments: (business: Business, against: { accounting: string; rule: PaymentRule }, writer: Writer) =>
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
  against: { accounting: string; rule: PaymentRule },
  writer: Writer,
): Promise<PaymentComparison> {
  const { known, found } = await database.transact(async (db) => {
    const known = await synchronised(db, business, against.accounting);
    return { known, found: known.kind === "compared" ? await paymentFindings(db, business, against) : undefined };
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
  answer: DocumentAnswer,
  writer: Writer,
): Promise<"final" | "not-final" | "given-up" | "differs" | "unreadable"> {
  const { connection, business_id } = businessColumns(business);
  const key = sql<boolean>`(connection, business_id, type, number) = (${connection}, ${business_id}, ${type}, ${storableText(number)})`;
  const row = await db
    .selectFrom("documents")
    .select(["document", "event_number", "workflow_id", "as_of"])
    .select(GIVEN_UP.as("given_up"))
    .where(key)
    .executeTakeFirst();
  const kept = row?.document as SaleDocument | null | undefined;
  // Another document has taken its place since it was listed.
  if (!row || kept?.id !== saleId) return "not-final";
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
