import { sql } from "kysely";

import { afterEvent, type Columns, columnsOf } from "../claims/claim.ts";
import type { Database } from "../database.ts";
import { type Chain, type ProvenRows, type RowsReport, verifyRows } from "../events/verify-rows.ts";
import { CLAIM_CHANGES, DOCUMENT_SAVED, documentColumns, NO_CLAIM, type RowContent } from "./row.ts";

export interface DocumentsReport extends RowsReport {
  /** Of these, sales and credit notes that have no document at the service, as far as the ledger knows. */
  withoutDocument: number;
}

const COUNT_WITHIN_MS = 30_000;

/** Holds each document of a business against the events that tell of it. */
export async function verifyDocuments(database: Database, chain: Chain): Promise<DocumentsReport> {
  const proven = ["sale", "credit_note"].map((type) => provenDocuments({ ...chain, type }));
  const found = await verifyRows(database, chain, proven);
  const counted = database.transact(
    (db) =>
      db
        .selectFrom("documents")
        .select(sql<number>`count(*)::int`.as("count"))
        .where((eb) => eb.and(chain))
        .where("document_id", "is", null)
        .executeTakeFirst(),
    COUNT_WITHIN_MS,
  );
  return { ...found, withoutDocument: (await counted)?.count ?? 0 };
}

/** What the last `document-saved` says, and the claim, of which each other event says what changed. */
interface State {
  saved?: string;
  claim: Columns;
}

const BEGINNING: State = { claim: NO_CLAIM };

function provenDocuments(owner: Chain & { type: string }): ProvenRows<State> {
  return {
    table: "documents",
    owner,
    idColumn: "number",
    noun: owner.type,
    kinds: [DOCUMENT_SAVED, ...CLAIM_CHANGES],
    named: [DOCUMENT_SAVED],
    after: (before = BEGINNING, { kind, content }) =>
      kind === DOCUMENT_SAVED ? { ...before, saved: content } : { ...before, claim: afterEvent(before.claim, content) },
    columnsOf: ({ saved = "", claim }) => ({
      ...documentColumns(JSON.parse(saved) as RowContent),
      ...columnsOf(claim),
    }),
  };
}
