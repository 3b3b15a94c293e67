import { sql } from "kysely";

import type { DocumentToReconcile, FindingKind, SaleDocument } from "../../contract/index.ts";
import type { Database, Queries } from "../database.ts";
import type { Business, Writer } from "../events/chain.ts";
import { businessColumns } from "../events/row.ts";
import { GIVEN_UP } from "../reports/signed.ts";
import { clockMs } from "../statements.ts";
import { storableJson, storableText } from "../storable-text.ts";
import { differences, isBehind, isFinal } from "./compare-document.ts";
import { clearFindings, type Found, keepFindings, seenBy } from "./keep-findings.ts";
import { PAYMENT_FINDINGS, paymentFindings } from "./payments.ts";
import type { Reconciliation, DocumentAnswer } from "./reconcile.ts";
import { synchronised } from "./synchronised.ts";

/** Findings in memory at a time. */
const PAGE = 500;
const COMPARE_WITHIN_MS = 60_000;

const DOCUMENT_FINDINGS = ["document-behind", "document-differs", "document-not-there", "document-unreadable"] as const;

export function createReconciliation(database: Database): Reconciliation {
  return {
    documents: (business, after, limit) => database.transact((db) => listDocuments(db, business, after, limit)),
    holdDocument: (business, document, answer, writer) =>
      database.transact((db) => holdDocument(db, business, document, answer, writer)),

    async holdPayments(business, against, writer) {
      const { accounting } = against;
      const known = await database.transact((db) => synchronised(db, business, accounting));
      if (known.kind === "not-compared") return known;
      for (let after: { kind: string; subject: string } | undefined; ;) {
        const from = after;
        const page = await database.transact(async (db) => {
          const found = await paymentFindings(db, business, against, { after: from, limit: PAGE });
          await keepFindings(db, business, found, writer);
          return found;
        }, COMPARE_WITHIN_MS);
        after = page.at(-1);
        if (page.length < PAGE) break;
      }
      const rest = { kinds: PAYMENT_FINDINGS, notSeenBy: seenBy(writer) };
      await database.transact((db) => clearFindings(db, business, rest, writer), COMPARE_WITHIN_MS);
      return known;
    },

    findings: (business, limit) => database.transact((db) => readFindings(db, business, limit)),

    settled: (business) =>
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
  const finding = findingOf(kept, answer, row.workflow_id);
  if (finding) await keepFindings(db, business, [finding], writer);
  if (answer.kind === "unreadable") return "unreadable";
  const gone = { kinds: DOCUMENT_FINDINGS, subject: saleId, except: finding ? [finding.kind] : [] };
  await clearFindings(db, business, gone, writer);
  if (finding || answer.kind === "not-there") return "differs";
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

function findingOf(
  kept: SaleDocument,
  answer: DocumentAnswer,
  workflowId: string,
): (Found & { kind: (typeof DOCUMENT_FINDINGS)[number] }) | undefined {
  const subject = kept.id;
  const name = `${kept.type === "sale" ? "The sale" : "The credit note"} ${kept.traderInvoiceNumber} (${kept.id})`;
  if (answer.kind === "unreadable") {
    const nextStep =
      "Look at it in the service's dashboard, and tell the service of its answer. It is asked for again at the next reconciliation.";
    return {
      kind: "document-unreadable",
      subject,
      reason: `${name} could not be compared. ${answer.message}`,
      nextStep,
    };
  }
  if (answer.kind === "not-there") {
    const reason = `${name} is ${kept.status} in the ledger, and the service knows no such document.`;
    return { kind: "document-not-there", subject, reason, nextStep: "Ask the service what became of it." };
  }
  const found = differences(kept, storableJson(answer.document));
  if (found.length === 0) return undefined;
  const reason = `${name}: ${found.join("; ")}.`;
  if (isBehind(kept, answer.document)) {
    const nextStep = `Its workflow ${workflowId} reads it at its next look. Where that has ended, adopt the document: start its sale with this saleId.`;
    return { kind: "document-behind", subject, reason, nextStep };
  }
  const nextStep = "Compare with the receipt and with the authority's page; what was signed counts.";
  return { kind: "document-differs", subject, reason, nextStep };
}

async function readFindings(db: Queries, business: Business, limit: number) {
  const standing = db
    .selectFrom("reconcile_findings")
    .where((eb) => eb.and(businessColumns(business)))
    .where("gone_at", "is", null);
  const counts = await standing
    .select((eb) => ["kind", eb.fn.countAll<string>().as("count")])
    .groupBy("kind")
    .execute();
  const first = await standing
    .select(["kind", "subject", "reason", "next_step", "since"])
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
    first: first.map(({ kind, subject, reason, next_step, since }) => ({
      kind,
      subject,
      reason,
      nextStep: next_step,
      sinceMs: since.getTime(),
    })),
  };
}
