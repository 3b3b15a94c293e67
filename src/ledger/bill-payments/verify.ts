import { sql } from "kysely";

import type { BillPayment } from "../../contract/index.ts";
import { connectionOfChain } from "../events/accounting-chain.ts";
import type { Database, Queries } from "../database.ts";
import { type RowFindings, SOME_VALUE } from "../rows/row-findings.ts";
import { type Chain, type Said, toldByAll, type ToldEvent } from "../rows/told.ts";
import { rowsBy } from "../rows/rows-by.ts";
import { type KeptRow, type ProvenRows, verifyRows } from "../rows/verify-rows.ts";
import { contentColumns, lineColumns } from "./columns.ts";
import { type Content, KINDS, subjectOf } from "./events.ts";

export interface BillPaymentsReport extends RowFindings {
  billPayments: number;
}

/**
 * Holds each bill payment of an accounting connection's chain, with its lines, against the events that tell of it, in pages.
 * @throws LedgerUnavailableError
 */
export async function verifyBillPayments(database: Database, chain: Chain): Promise<BillPaymentsReport> {
  const connection = connectionOfChain(chain);
  if (connection === undefined) return { billPayments: 0, findings: [], moreFindings: 0 };
  const { rows: billPayments, ...found } = await verifyRows(database, chain, billPaymentsOf(connection));
  return { billPayments, ...found };
}

interface KeptPayment extends KeptRow {
  row: KeptRow["row"] & { bill_payment_id: string };
}

function billPaymentsOf(connection: string): ProvenRows<KeptPayment> {
  const kinds = Object.values(KINDS);
  return {
    table: "bill_payments",
    kinds,
    most: 200,
    read: (db, _chain, after, most) => readPayments(db, connection, after?.row.bill_payment_id ?? "", most),
    told: (db, chain, subjects) => toldByAll(db, chain, { kinds, subjects, after: stateAfter, saidBy }),
    isToldOf: () => sql<boolean>`
      kept.connection = ${connection} and kept.bill_payment_id = substr(told.subject, ${subjectOf("").length + 1})`,
  };
}

async function readPayments(db: Queries, connection: string, afterId: string, most: number): Promise<KeptPayment[]> {
  const payments = await db
    .selectFrom("bill_payments")
    .selectAll()
    .where("connection", "=", connection)
    .where("bill_payment_id", ">", afterId)
    .orderBy("bill_payment_id")
    .limit(most)
    .execute();
  const ids = payments.map(({ bill_payment_id }) => bill_payment_id);
  const lines = await db
    .selectFrom("bill_payment_lines")
    .selectAll()
    .where("connection", "=", connection)
    .where(sql<boolean>`bill_payment_id = any(${ids})`)
    .execute();
  const linesOf = rowsBy(lines, ({ bill_payment_id }) => bill_payment_id);
  return payments.map((row) => ({
    subject: subjectOf(row.bill_payment_id),
    row,
    parts: { bill_payment_lines: linesOf.get(row.bill_payment_id) ?? [] },
  }));
}

interface State {
  /** Not there where the first events of a payment are gone. */
  payment?: BillPayment;
  status: unknown;
  isMissing: boolean;
}

const UNSEEN: State = { status: null, isMissing: false };

function stateAfter(before: State | undefined, event: ToldEvent): State {
  const { changes, billPayment } = JSON.parse(event.content) as Content;
  const state = { ...(before ?? UNSEEN), ...(billPayment !== undefined && { payment: billPayment as BillPayment }) };
  for (const { what, after } of changes) {
    if (what === "first-seen") state.status = (after as { status: unknown }).status;
    else if (what === "status") state.status = after;
    else if (what === "missing") state.isMissing = true;
    else if (what === "returned") state.isMissing = false;
  }
  return state;
}

function saidBy({ payment, status, isMissing }: State, { writer }: ToldEvent): Said {
  if (payment === undefined) throw new Error("no event tells what was seen first");
  const columns = {
    ...contentColumns(payment),
    sync_status: status,
    missing_since: isMissing ? SOME_VALUE : null,
    ...writer,
  };
  const rows = lineColumns(payment);
  return { columns, parts: [{ table: "bill_payment_lines", key: "line_number", rows }] };
}
