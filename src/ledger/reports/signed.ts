import { type RawBuilder, sql } from "kysely";

import type { Period } from "./report.ts";

export interface Chain {
  connection: string;
  business_id: string;
}

/**
 * The documents of a business that the tax authority has accepted, each once: where two workflows speak of one document
 * (a second credit note that found the first), the one that asked for its number counts.
 */
export function signedDocuments({ connection, business_id }: Chain, { from, to }: Period): RawBuilder<unknown> {
  return sql`
    select distinct on (document_id) * from documents
    where connection = ${connection} and business_id = ${business_id} and status = 'completed'
      and document_date between ${from} and ${to}
    order by document_id, document_number = number desc, type, number`;
}
