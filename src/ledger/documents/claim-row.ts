import { type RawBuilder, type Selectable, sql } from "kysely";

import type { DocumentRow } from "../../contract/index.ts";
import type { Queries } from "../database.ts";
import { LedgerError } from "../errors.ts";
import { canonicalJson } from "../events/canonical-json.ts";
import type { NewEvent, Writer } from "../events/chain.ts";
import { subjectOf } from "./columns.ts";
import { assignments } from "../statements.ts";
import { storableJson } from "../storable-text.ts";
import type { DocumentsTable } from "../tables/records.ts";

/** An operator's decision about a document that is in doubt. */
export interface DocumentDecision {
  decision: { saleId: string } | "not-created";
  note: string;
  by?: string | undefined;
  atMs: number;
}

/** The columns of a document's row that are its claim. */
export const CLAIM_COLUMNS = [
  "intent",
  "claim",
  "claimed_id",
  "claim_decision",
  "credits",
  "idempotency_key",
  "claim_content",
  "request",
  "first_sent_at",
  "holder",
  "execution",
  "under_way_until",
] as const;

export type ClaimRow = Pick<Selectable<DocumentsTable>, (typeof CLAIM_COLUMNS)[number]>;

/**
 * What a change says of the claim, as its event keeps it. A claim is all that its events say, one after the other; left
 * out are the request, and the columns by which executions are told apart.
 */
export interface ClaimChange {
  intent?: number;
  claim?: ClaimRow["claim"];
  claimed_id?: string | null;
  claim_decision?: DocumentDecision | null;
  credits?: string | null;
}

/** A claim begins with nothing. */
export const NO_CLAIM: ClaimChange = { intent: 0, claim: null, claimed_id: null, claim_decision: null, credits: null };

/** What happened to a claim, and what that changes. `detail`: what no column has. */
export interface ClaimEvent {
  what: string;
  intent: number;
  change?: ClaimChange | undefined;
  detail?: object | undefined;
}

const KIND = "document-";
export const kindOf = (what: string): string => `${KIND}${what}`;

/** What changes a claim; the others tell of what was refused. */
export const CLAIM_CHANGES = [
  "taken",
  "in-doubt",
  "created",
  "created-after-all",
  "found",
  "unsent",
  "not-created",
  "given-up",
  "decided-created",
  "decided-not-created",
].map(kindOf);

export function claimEvent(of: DocumentRow, writer: Writer, { what, ...content }: ClaimEvent): NewEvent {
  return { kind: kindOf(what), subject: subjectOf(of), content, writer };
}

/** As the row keeps it. */
export function claimColumns({ claim_decision, ...columns }: ClaimChange): Readonly<Record<string, unknown>> {
  return {
    ...columns,
    ...(claim_decision !== undefined && {
      claim_decision: claim_decision && canonicalJson(storableJson(claim_decision)),
    }),
  };
}

/** What `update documents … set` is given for a change of the claim. @param columns those that no event tells of */
export function claimAssignments(change: ClaimChange, columns: Readonly<Record<string, unknown>> = {}) {
  return sql.join(assignments({ ...claimColumns(change), ...columns }));
}

/** Changes the claim of a row that the transaction has locked. */
export async function changeClaim(
  db: Queries,
  where: RawBuilder<boolean>,
  change: ClaimChange,
  columns: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  await sql`update documents as d set ${claimAssignments(change, columns)} where ${where}`.execute(db);
}

export function decisionOf({ claim_decision }: Pick<ClaimRow, "claim_decision">): { decision?: DocumentDecision } {
  return claim_decision === null ? {} : { decision: claim_decision as DocumentDecision };
}

/** Whether a create request of the document may have left. */
export function isClaimed({ claim }: Pick<ClaimRow, "claim">): boolean {
  return claim === "in-doubt" || claim === "document";
}

/** The bytes are there to be sent again while it is in doubt; they hold the customer and the callback's URL. */
export const NO_LONGER_IN_DOUBT = { first_sent_at: null, request: null } as const;

/** @throws LedgerError for an intent that is none. */
export function checkIntent(intent: number): void {
  if (!Number.isSafeInteger(intent) || intent < 1 || intent > 2_147_483_647)
    throw new LedgerError(`An intent is a whole number from 1, not ${intent}.`);
}
