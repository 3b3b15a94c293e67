import type { DocumentRow } from "../../contract/index.ts";
import type { Claim } from "../claims/claim.ts";
import type { Business } from "../events/chain.ts";
import { businessColumns } from "../events/row.ts";
import { storableText } from "../storable-text.ts";
import type { RowOf } from "../tables.ts";
import { subjectOf } from "./columns.ts";

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

export type ClaimRow = Pick<RowOf<"documents">, (typeof CLAIM_COLUMNS)[number]>;

/** A claim begins with nothing. These columns are told by its events; left out are the request, and who may be at it. */
export const NO_CLAIM = { intent: 0, claim: null, claimed_id: null, claim_decision: null, credits: null } as const;

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

/** The row of a document, and its claim in it. */
export function documentClaim(business: Business, of: Pick<DocumentRow, "type" | "number">): Claim {
  const key = { ...businessColumns(business), type: of.type, number: storableText(of.number) };
  return { table: "documents", key, chain: business, subject: subjectOf(of), kind: KIND };
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
