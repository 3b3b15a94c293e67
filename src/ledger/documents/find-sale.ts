import { sql } from "kysely";

import { type Decision, type DocumentRecord, type DocumentRow, type StockMovement } from "../../contract/index.ts";
import type { Queries } from "../database.ts";
import { type Business, type Writer } from "../events/chain.ts";
import { businessColumns } from "../events/row.ts";
import { type ClaimRow, isClaimed } from "./claim-row.ts";
import { documentsWithEvents } from "./row.ts";
import { movementsOf } from "../stock/of-document.ts";
import { storableText } from "../storable-text.ts";
import { DECIDED, type RowContent, subjectOf } from "./columns.ts";

/** A document as its row has it, with its movements. */
export interface KeptRecord {
  record: DocumentRecord & { movements: StockMovement[] };
  /** Its claim was taken, or decided upon, by any run. */
  isClaimed: boolean;
  /** A create request of it may have left, and no answer ruled out a document. */
  isSent: boolean;
  /** Of all runs of the workflow that kept it, in their order. */
  decisions: Decision[];
  /** When it was kept (Unix milliseconds). */
  keptAtMs: number;
  /** Who kept it. */
  writer: Writer;
}

/** A sale as it was kept last. */
export interface KeptSale extends KeptRecord {
  /** The credit note that reverses it: the signed one, else the one that was kept last. */
  creditNote: KeptRecord | undefined;
}

/** The sale of that number, out of the event that its row was written with. */
export async function findSale(db: Queries, business: Business, number: string): Promise<KeptSale | undefined> {
  const row = await documents(db, business)
    .where("d.type", "=", "sale")
    .where("d.number", "=", storableText(number))
    .executeTakeFirst();
  if (!row) return undefined;
  const note = await documents(db, business)
    .where("d.type", "=", "credit_note")
    .where("d.original_document_id", "=", row.document_id)
    .orderBy(sql`d.status is not distinct from 'completed'`, "desc")
    .orderBy("d.as_of", "desc")
    .limit(1)
    .executeTakeFirst();
  return { ...(await keptOf(db, business, row)), creditNote: note && (await keptOf(db, business, note)) };
}

/** The number of the sale that the credit note of that number reverses, where the ledger has both. */
export async function saleOfCreditNote(db: Queries, business: Business, number: string): Promise<string | undefined> {
  const { connection, business_id } = businessColumns(business);
  const row = await db
    .selectFrom("documents as n")
    .innerJoin("documents as s", (join) =>
      join
        .onRef("s.connection", "=", "n.connection")
        .onRef("s.business_id", "=", "n.business_id")
        .onRef("s.document_id", "=", "n.original_document_id")
        .on("s.type", "=", "sale"),
    )
    .select("s.number")
    .where("n.connection", "=", connection)
    .where("n.business_id", "=", business_id)
    .where("n.type", "=", "credit_note")
    .where("n.number", "=", storableText(number))
    .executeTakeFirst();
  return row?.number;
}

function documents(db: Queries, business: Business) {
  const { connection, business_id } = businessColumns(business);
  return documentsWithEvents(db)
    .select(["d.document_id", "d.claim", "e.content", "e.at"])
    .where("d.connection", "=", connection)
    .where("d.business_id", "=", business_id);
}

interface Row extends Pick<ClaimRow, "claim"> {
  content: string;
  at: Date;
}

async function keptOf(db: Queries, business: Business, row: Row): Promise<KeptRecord> {
  const { run: writer, ...record } = JSON.parse(row.content) as RowContent;
  const decisions = await decisionsOf(db, business, record, writer.workflowId);
  const movements = await movementsOf(db, business, record, decisions);
  const isOpen = (subject: string | undefined): boolean =>
    movements.some(({ referenceId, state }) => referenceId === subject && state === "unknown");
  return {
    record: {
      ...record,
      // What its claim knows, also where its run has ended before it could tell.
      numberTaken: record.numberTaken || isClaimed(row),
      movements,
      attentions: record.attentions.filter(({ code, subject }) => code !== "stock-unknown" || isOpen(subject)),
    },
    isClaimed: row.claim !== null,
    isSent: isClaimed(row),
    decisions,
    keptAtMs: row.at.getTime(),
    writer,
  };
}

/** What operators decided on a document, in all runs of the workflow, in their order. */
export async function decisionsOf(
  db: Queries,
  business: Business,
  of: Pick<DocumentRow, "type" | "number">,
  workflowId: string,
): Promise<Decision[]> {
  // A credit note that lost its number to another sale's has sent its decisions under the same subject.
  const decisions = await db
    .selectFrom("events")
    .select("content")
    .where((eb) => eb.and(businessColumns(business)))
    .where("subject", "=", subjectOf(of))
    .where("kind", "=", DECIDED)
    .where("workflow_id", "=", workflowId)
    .orderBy("number")
    .execute();
  return decisions.map(({ content }) => JSON.parse(content) as Decision);
}
