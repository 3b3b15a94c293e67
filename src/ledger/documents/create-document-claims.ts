import { sql } from "kysely";

import type { Database, Queries } from "../database.ts";
import { kindOf } from "./claim-row.ts";
import type { DocumentClaims, SecondDocument } from "./claims.ts";
import { decide, read } from "./decide.ts";
import { settle, settleAnswered } from "./settle.ts";
import { ended, take, takeFirst } from "./take.ts";

/** Each operation is one statement or one transaction, and may run again after a broken connection. */
export function createDocumentClaims(database: Database): DocumentClaims {
  return {
    take: (request) =>
      database.inOneStatement(
        (db) => takeFirst(db, request),
        (db) => take(db, request),
      ),
    ended: (request) => database.query((db) => ended(db, request)),
    settle: async (request) => settle(database, request),
    settleAnswered: async (request) => settleAnswered(database, request),
    decide: (request) => database.transact((db) => decide(db, request)),
    read: (key) => database.query((db) => read(db, key)),
    contradicted: (days) => database.query((db) => contradicted(db, days)),
  };
}

const MOST = 100;

async function contradicted(db: Queries, days: number): Promise<SecondDocument[]> {
  const { rows } = await sql<{ workflow_id: string; recorded: string; reported: string; at: Date }>`
    select workflow_id, content::json #>> '{detail,recorded}' as recorded,
      content::json #>> '{detail,documentId}' as reported, max(at) as at
    from events
    where kind = ${sql.lit(kindOf("contradicted"))} and at > clock_timestamp() - ${days} * interval '1 day'
    group by 1, 2, 3 order by 4 desc limit ${MOST}`.execute(db);
  return rows.map(({ workflow_id: workflowId, recorded, reported, at }) => {
    return { workflowId, recorded, reported, atMs: at.getTime() };
  });
}
