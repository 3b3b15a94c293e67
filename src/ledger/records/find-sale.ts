import type { Queries } from "../database.ts";
import { type Business, type Writer } from "../events/chain.ts";
import { businessColumns } from "../events/row.ts";
import { storableText } from "../storable-text.ts";
import type { RecordContent } from "./columns.ts";

/** A sale as it was kept last. */
export interface KeptSale {
  record: RecordContent;
  /** Signed, and reverses it. */
  creditNote: RecordContent["document"];
  /** Who kept it. */
  writer: Writer;
}

/** The sale of that number, out of the event that its row was written with. */
export async function findSale(db: Queries, business: Business, number: string): Promise<KeptSale | undefined> {
  const { connection, business_id } = businessColumns(business);
  const row = await db
    .selectFrom("documents as d")
    .innerJoin("events as e", (join) =>
      join
        .onRef("e.connection", "=", "d.connection")
        .onRef("e.business_id", "=", "d.business_id")
        .onRef("e.number", "=", "d.event_number"),
    )
    .select(["d.document_id", "d.workflow_id", "d.run_id", "e.content"])
    .where("d.connection", "=", connection)
    .where("d.business_id", "=", business_id)
    .where("d.type", "=", "sale")
    .where("d.number", "=", storableText(number))
    .executeTakeFirst();
  if (!row) return undefined;
  const note = await db
    .selectFrom("documents")
    .select("document")
    .where("connection", "=", connection)
    .where("business_id", "=", business_id)
    .where("type", "=", "credit_note")
    .where("status", "=", "completed")
    .where("original_document_id", "=", row.document_id)
    .limit(1)
    .executeTakeFirst();
  return {
    record: JSON.parse(row.content) as RecordContent,
    creditNote: (note?.document ?? null) as RecordContent["document"],
    writer: { workflowId: row.workflow_id, runId: row.run_id },
  };
}
