import { sql } from "kysely";

import type { Purchase } from "../../contract/index.ts";
import type { Database, Queries } from "../database.ts";
import {
  addFinding,
  type Chain,
  differing,
  type LastTold,
  lastTold,
  MOST_FINDINGS,
  type RowFinding,
  type RowFindings,
} from "../records/row-findings.ts";
import { stateOf } from "./compare.ts";
import { SEEN, subjectOf } from "./events.ts";
import { purchaseColumns, type PurchaseRow } from "./row.ts";

export interface PurchasesReport extends RowFindings {
  purchases: number;
}

const PAGE = 200;
const PAGE_WITHIN_MS = 30_000;

/**
 * Holds each purchase of a business against the event that it was written with, in pages.
 * @throws LedgerUnavailableError
 */
export async function verifyPurchases(database: Database, chain: Chain): Promise<PurchasesReport> {
  const report: PurchasesReport = { purchases: 0, findings: [], moreFindings: 0 };
  const find = (finding: RowFinding): void => addFinding(report, finding);
  let after = "";
  for (;;) {
    const { rows, told } = await database.transact((db) => readPage(db, chain, after));
    for (const row of rows) {
      report.purchases += 1;
      const finding = findingOf(row, told);
      if (finding) find(finding);
    }
    if (rows.length < PAGE) break;
    after = rows.at(-1)?.purchase_id ?? after;
  }
  for (const subject of await database.query((db) => withoutRow(db, chain), PAGE_WITHIN_MS))
    find({ kind: "row-missing", table: "purchases", subject, row: subject });
  return report;
}

/** The rows and the last events that tell of them, in one transaction that sees one state. */
async function readPage(db: Queries, chain: Chain, after: string): Promise<{ rows: PurchaseRow[]; told: LastTold }> {
  await sql`set transaction isolation level repeatable read read only`.execute(db);
  const { connection, business_id } = chain;
  const rows = await db
    .selectFrom("purchases")
    .selectAll()
    .where("connection", "=", connection)
    .where("business_id", "=", business_id)
    .where("purchase_id", ">", after)
    .orderBy("purchase_id")
    .limit(PAGE)
    .execute();
  const subjects = rows.map((row) => subjectOf(row.purchase_id));
  return { rows, told: await lastTold(db, chain, SEEN, subjects) };
}

function findingOf(row: PurchaseRow, told: LastTold): RowFinding | undefined {
  const subject = subjectOf(row.purchase_id);
  const event = told.get(subject);
  const named = Number(row.event_number);
  if (event?.number !== named) {
    return { kind: "row-behind", table: "purchases", subject, event: named, last: event?.number ?? null };
  }
  const { purchase } = JSON.parse(event.content) as { purchase: Purchase };
  const columns = differing(purchaseColumns(purchase, stateOf(purchase)), row);
  return columns.length > 0
    ? { kind: "row-changed", table: "purchases", subject, row: row.purchase_id, columns }
    : undefined;
}

/** Subjects whose purchase is told of, and is not there. */
async function withoutRow(db: Queries, { connection, business_id }: Chain): Promise<string[]> {
  const { rows } = await sql<{ subject: string }>`
    select distinct subject from events as e
    where connection = ${connection} and business_id = ${business_id} and kind = ${SEEN}
      and not exists (
        select from purchases as p where p.connection = ${connection} and p.business_id = ${business_id}
          and p.purchase_id = substr(e.subject, ${subjectOf("").length + 1}))
    limit ${MOST_FINDINGS}`.execute(db);
  return rows.map(({ subject }) => subject);
}
