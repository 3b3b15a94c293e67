/** One statement may have 65,535 parameters: rows of up to twenty columns, in three tables. */
const ROWS_A_STATEMENT = 1_000;

/** In their order, as many rows as one statement writes into one table. */
export function piecesOf<Row>(rows: readonly Row[]): Row[][] {
  const pieces: Row[][] = [];
  for (let from = 0; from < rows.length; from += ROWS_A_STATEMENT)
    pieces.push(rows.slice(from, from + ROWS_A_STATEMENT));
  return pieces;
}
