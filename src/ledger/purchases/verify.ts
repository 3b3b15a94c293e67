import { sql } from "kysely";

import type { Purchase } from "../../contract/index.ts";
import type { Database, Queries } from "../database.ts";
import { type RowFindings, SOME_VALUE } from "../rows/row-findings.ts";
import { type Chain, lastEvents, type Said, type Told, toldByLast, type ToldEvent } from "../rows/told.ts";
import { type KeptRow, type ProvenRows, verifyRows } from "../rows/verify-rows.ts";
import { stateOf } from "./compare.ts";
import { MISSING, SEEN, subjectOf } from "./events.ts";
import { purchaseColumns, type PurchaseRow } from "./row.ts";

export interface PurchasesReport extends RowFindings {
  purchases: number;
}

/**
 * Holds each purchase of a business against the event that it was written with, in pages.
 * @throws LedgerUnavailableError
 */
export async function verifyPurchases(database: Database, chain: Chain): Promise<PurchasesReport> {
  const { rows: purchases, ...found } = await verifyRows(database, chain, PURCHASES);
  return { purchases, ...found };
}

interface KeptPurchase extends KeptRow {
  row: KeptRow["row"] & PurchaseRow;
}

const PURCHASES: ProvenRows<KeptPurchase> = {
  table: "purchases",
  kinds: [SEEN],
  most: 200,
  async read(db, { connection, business_id }, after, most) {
    const rows = await db
      .selectFrom("purchases")
      .selectAll()
      .where("connection", "=", connection)
      .where("business_id", "=", business_id)
      .where("purchase_id", ">", after?.row.purchase_id ?? "")
      .orderBy("purchase_id")
      .limit(most)
      .execute();
    return rows.map((row) => ({ subject: subjectOf(row.purchase_id), row }));
  },
  told,
  isToldOf: (chain) => sql<boolean>`
    kept.connection = ${chain.connection} and kept.business_id = ${chain.business_id}
      and kept.purchase_id = substr(told.subject, ${subjectOf("").length + 1})`,
};

/** That it is missing is told by an event of another kind, which the row does not name; another look ends that. */
async function told(db: Queries, chain: Chain, subjects: readonly string[]): Promise<Told> {
  const latest = await lastEvents(db, chain, [SEEN, MISSING], subjects);
  const seen = await toldByLast(db, chain, { kind: SEEN, subjects, saidBy });
  return new Map(
    [...seen].map(([subject, { last, said }]) => {
      const missing = { missing_since: latest.get(subject)?.kind === MISSING ? SOME_VALUE : null };
      return [subject, { last, said: said && { columns: { ...said.columns, ...missing } } }];
    }),
  );
}

function saidBy({ content, writer }: ToldEvent): Said {
  const { purchase } = JSON.parse(content) as { purchase: Purchase };
  return { columns: { ...purchaseColumns(purchase, stateOf(purchase)), ...writer } };
}
