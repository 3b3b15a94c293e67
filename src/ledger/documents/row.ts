import { type Insertable, type RawBuilder, type Selectable, sql, type UpdateObject } from "kysely";

import type { Queries } from "../database.ts";
import { LedgerError } from "../errors.ts";
import { cleanText } from "../storable-text.ts";
import type { Tables } from "../tables.ts";
import type { DocumentClaimsTable } from "../tables/claims.ts";
import type { DocumentDecision } from "./claims.ts";

export type DocumentRow = Selectable<DocumentClaimsTable>;

export function lockRow(db: Queries, workflowId: string): Promise<DocumentRow | undefined> {
  return db
    .selectFrom("document_claims")
    .selectAll()
    .where("workflow_id", "=", workflowId)
    .forUpdate()
    .executeTakeFirst();
}

/** The row as it was inserted, or undefined when there was one already. */
export async function insertRow(db: Queries, row: Insertable<DocumentClaimsTable>): Promise<boolean> {
  const inserted = await db
    .insertInto("document_claims")
    .values(row)
    .onConflict((conflict) => conflict.column("workflow_id").doNothing())
    .returning("workflow_id")
    .executeTakeFirst();
  return inserted !== undefined;
}

export async function updateRow(
  db: Queries,
  workflowId: string,
  change: UpdateObject<Tables, "document_claims">,
): Promise<void> {
  await db.updateTable("document_claims").set(change).where("workflow_id", "=", workflowId).execute();
}

export interface ClaimEvent {
  intent: number;
  what: string;
  detail: object;
}

export async function recordEvent(
  db: Queries,
  workflowId: string,
  { intent, what, detail }: ClaimEvent,
): Promise<void> {
  await db
    .insertInto("document_claim_events")
    .values({ workflow_id: workflowId, intent, what, detail: detailText(detail) })
    .execute();
}

/** Of claims that the statement has written under the name `source`: all of them, which may be none. */
export function eventsOf(source: "number" | "claim", { intent, what, detail }: ClaimEvent): RawBuilder<unknown> {
  return sql`select workflow_id, ${intent}::int, ${what}::text, ${detailText(detail)}::json from ${sql.table(source)}`;
}

function detailText(detail: object): string {
  return cleanText(JSON.stringify(detail));
}

export function decisionOf(row: DocumentRow): { decision?: DocumentDecision } {
  return row.decision === null ? {} : { decision: row.decision as DocumentDecision };
}

/** A row that nothing was ever sent for: all but its keys. */
export const NOTHING_SENT = {
  idempotency_key: null,
  content: null,
  request: null,
  first_sent_at: null,
  holder: null,
  execution: null,
  under_way_until: null,
} as const;

/** The bytes are there to be sent again while it is in doubt; they hold the customer and the callback's URL. */
export const NO_LONGER_IN_DOUBT = { first_sent_at: null, request: null } as const;

/** @throws LedgerError for an intent that is none. */
export function checkIntent(intent: number): void {
  if (!Number.isSafeInteger(intent) || intent < 0 || intent > 2_147_483_647)
    throw new LedgerError(`An intent is a whole number from 0, not ${intent}.`);
}
