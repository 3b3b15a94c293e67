import { sql } from "kysely";

import type { Database } from "../database.ts";
import { type Chain, type ExpectedRow, expectedByAllEvents, type SubjectEvent } from "../rows/expected-rows.ts";
import { type KeptRow, type ProvenRows, verifyRows } from "../rows/verify-rows.ts";
import type { MovementsReport } from "./claims.ts";
import { kindOf, type MovementChange, rowColumns, subjectOf } from "./row.ts";

/**
 * Holds each stock movement of a business against the events that tell of it, in pages.
 * @throws LedgerUnavailableError
 */
export async function verifyMovements(database: Database, chain: Chain): Promise<MovementsReport> {
  const { rows: movements, ...found } = await verifyRows(database, chain, MOVEMENTS);
  return { movements, ...found };
}

/** What changes a row; the others tell of what was refused. */
const CHANGES = [
  "taken",
  "taken-again",
  "settled-applied",
  "settled-not-applied",
  "contradicted",
  "buried",
  "decided-applied",
  "decided-not-applied",
  "decision-refused",
].map(kindOf);

interface KeptMovement extends KeptRow {
  row: KeptRow["row"] & { reference_id: string };
}

const MOVEMENTS: ProvenRows<KeptMovement> = {
  table: "movements",
  kinds: CHANGES,
  most: 200,
  async read(db, { connection, business_id }, after, most) {
    const rows = await db
      .selectFrom("movements")
      .selectAll()
      .where((eb) => eb.and({ connection, business_id }))
      .where("reference_id", ">", after?.row.reference_id ?? "")
      .orderBy("reference_id")
      .limit(most)
      .execute();
    return rows.map((row) => ({ subject: subjectOf(row.reference_id), row }));
  },
  expected: (db, chain, subjects) =>
    expectedByAllEvents(db, chain, { kinds: CHANGES, subjects, after: changesAfter, expectedBy }),
  isRowOfSubject: (chain) => sql<boolean>`
    kept.connection = ${chain.connection} and kept.business_id = ${chain.business_id}
      and kept.reference_id = substr(subjects.subject, ${subjectOf("").length + 1})`,
};

/** A row begins with nothing. */
const NOTHING: MovementChange = {
  type: null,
  number: null,
  purpose: null,
  undoes: null,
  item_id: null,
  action: null,
  quantity: null,
  unit_price: null,
  branch: null,
  outcome: null,
  branch_id: null,
  quantity_on_hand: null,
  decision: null,
  disputed: false,
};

function changesAfter(before: MovementChange | undefined, { content }: SubjectEvent): MovementChange {
  const { change = {} } = JSON.parse(content) as { change?: MovementChange };
  return { ...(before ?? NOTHING), ...change };
}

function expectedBy(change: MovementChange): ExpectedRow {
  return { columns: { ...rowColumns(change) } };
}
