import type { Queries } from "../database.ts";
import type { Business, Writer } from "../events/chain.ts";
import { businessColumns } from "../events/row.ts";
import { storableText } from "../storable-text.ts";
import type { RecordContent } from "./columns.ts";

/** A credit note as it was kept last. */
export interface KeptCreditNote {
  record: RecordContent;
  /** The number of the sale that it reverses, where the ledger has that sale. */
  sale: string | undefined;
  /** Who kept it. */
  writer: Writer;
}

/** The credit note of that number, out of the event that its row was written with. */
export async function findCreditNote(
  db: Queries,
  business: Business,
  number: string,
): Promise<KeptCreditNote | undefined> {
  const { connection, business_id } = businessColumns(business);
  const row = await db
    .selectFrom("documents as d")
    .innerJoin("events as e", (join) =>
      join
        .onRef("e.connection", "=", "d.connection")
        .onRef("e.business_id", "=", "d.business_id")
        .onRef("e.number", "=", "d.event_number"),
    )
    .leftJoin("documents as s", (join) =>
      join
        .onRef("s.connection", "=", "d.connection")
        .onRef("s.business_id", "=", "d.business_id")
        .on("s.type", "=", "sale")
        .onRef("s.document_id", "=", "d.original_document_id"),
    )
    .select(["d.workflow_id", "d.run_id", "e.content", "s.number as sale"])
    .where("d.connection", "=", connection)
    .where("d.business_id", "=", business_id)
    .where("d.type", "=", "credit_note")
    .where("d.number", "=", storableText(number))
    .limit(1)
    .executeTakeFirst();
  if (!row) return undefined;
  return {
    record: JSON.parse(row.content) as RecordContent,
    sale: row.sale ?? undefined,
    writer: { workflowId: row.workflow_id, runId: row.run_id },
  };
}
