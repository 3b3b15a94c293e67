import { type RawBuilder, sql } from "kysely";

import type { StockMovement } from "../../contract/index.ts";
import { piecesOf } from "../statements.ts";
import { type DocumentKey, movementColumns, movementsOf, type RecordContent, whereDocument } from "./columns.ts";

export interface PartWrites {
  /** For one statement, beside that of the document itself. */
  atOnce: RawBuilder<unknown>[];
  /** What is too much for that: afterwards, one by one. */
  rest: RawBuilder<unknown>[];
}

/**
 * Brings the movements of a document to what a record says. What stands there already is not written again.
 * @param isNew the document has none yet
 */
export function partWrites(
  key: DocumentKey,
  writer: { workflow_id: string; run_id: string },
  content: RecordContent,
  isNew: boolean,
): PartWrites {
  const owner = { ...key, ...writer };
  const movements = movementsOf(content).map((movement: StockMovement) => ({ ...owner, ...movementColumns(movement) }));
  const [someMovements = [], ...moreMovements] = piecesOf(movements);
  const references = movements.map(({ reference_id }) => reference_id);
  const gone = isNew
    ? []
    : [sql`delete from stock_movements where ${whereDocument(key)} and reference_id <> all(${references}::text[])`];
  return {
    atOnce: [...gone, ...movementsWrite(someMovements)],
    rest: moreMovements.flatMap(movementsWrite),
  };
}

type Row = Readonly<Record<string, unknown>>;

function movementsWrite(rows: readonly Row[]): RawBuilder<unknown>[] {
  const [first] = rows;
  if (!first) return [];
  const columns = Object.keys(first);
  const names = sql.join(columns.map((column) => sql.ref(column)));
  const values = sql.join(rows.map((row) => sql`(${sql.join(columns.map((column) => row[column]))})`));
  const changes = sql.join(columns.map((column) => sql`${sql.ref(column)} = ${sql.ref(`excluded.${column}`)}`));
  // As text, since JSON is kept as it was written and knows of no equality.
  const columnsOf = (of: string) =>
    sql`(${sql.join(columns.map((column) => sql`${sql.ref(`${of}.${column}`)}::text`))})`;
  return [
    sql`
      insert into stock_movements as kept (${names}) values ${values}
      on conflict (connection, business_id, type, number, reference_id) do update set ${changes}
      where ${columnsOf("kept")} is distinct from ${columnsOf("excluded")}`,
  ];
}
