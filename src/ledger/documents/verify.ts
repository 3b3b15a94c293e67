import { afterEvent, type Columns, columnsOf } from "../claims/claim.ts";
import type { Chain } from "../events/chain.ts";
import type { ProvenRows } from "../events/verify-rows.ts";
import { CLAIM_CHANGES, DOCUMENT_SAVED, documentColumns, NO_CLAIM, type RowContent } from "./row.ts";

/** What the last `document-saved` says, and the claim, of which each other event says what changed. */
interface State {
  saved?: string;
  claim: Columns;
}

const BEGINNING: State = { claim: NO_CLAIM };

/** Documents of a business and a type. */
export function provenDocuments(owner: Chain & { type: string }): ProvenRows<State> {
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
