import { sql } from "kysely";

import type { Database } from "../database.ts";
import { type Chain, expectedByAllEvents, type SubjectEvent } from "../rows/expected-rows.ts";
import { type KeptRow, type RowsReport, verifyRows } from "../rows/verify-rows.ts";
import { assignments } from "../statements.ts";
import type { AtMostOnceTable } from "./at-most-once.ts";
import { afterEvent, type Columns, columnsOf } from "./claim.ts";

/** Events that doubt what a row says: they leave it to the run that wrote it. */
const DOUBTS = ["contradicted", "decision-refused"];

/**
 * Holds each claim of a chain against the events that tell of it, in pages.
 * @param owner the columns of the primary key beside the id
 * @throws LedgerUnavailableError
 */
export function verifyClaims(
  database: Database,
  chain: Chain,
  { table, kind, subjects: prefix, idColumn, columnsOfCall, done, notDone }: Omit<AtMostOnceTable<never>, "said">,
  owner: Columns,
): Promise<RowsReport> {
  const settled = [done, notDone].flatMap((state) => [`settled-${state}`, `decided-${state}`]);
  // What changes a row; the others tell of what was refused.
  const kinds = ["taken", "taken-again", "buried", ...settled, ...DOUBTS].map((what) => `${kind}${what}`);
  const ofOwner = sql`${sql.join(assignments(owner), sql` and `)}`;
  const empty = Object.fromEntries(["outcome", "decision", ...columnsOfCall].map((column) => [column, null]));
  const nothing: Columns = { ...empty, disputed: false };

  function after(before: Columns = nothing, { kind: told, content, writer }: SubjectEvent): Columns {
    const isDoubt = DOUBTS.includes(told.slice(kind.length));
    return { ...afterEvent(before, content), ...(!isDoubt && writer) };
  }

  return verifyRows<KeptRow>(database, chain, {
    table,
    kinds,
    most: 200,
    async read(db, _chain, last, most) {
      const from = last ? String(last.row[idColumn]) : "";
      const { rows } = await sql<KeptRow["row"]>`
        select * from ${sql.table(table)} where ${ofOwner} and ${sql.ref(idColumn)} > ${from}
        order by ${sql.ref(idColumn)} limit ${most}`.execute(db);
      return rows.map((row) => ({ subject: `${prefix}${String(row[idColumn])}`, row }));
    },
    expected: (db, _chain, subjects) =>
      expectedByAllEvents<Columns>(db, chain, {
        kinds,
        subjects,
        after,
        expectedBy: (state) => ({ columns: { ...columnsOf(state) } }),
      }),
    isRowOfSubject: () => sql<boolean>`
      ${ofOwner} and ${sql.ref(idColumn)} = substr(subjects.subject, ${prefix.length + 1})`,
  });
}
