import { sql } from "kysely";

import type { Database, Queries } from "../database.ts";
import { documentKey, isOfAnother, lockKept } from "../records/row.ts";
import { kindOf } from "./claim-row.ts";
import type { DocumentClaims, DocumentKey, NumberOwner, SecondDocument } from "./claims.ts";
import { decide, read } from "./decide.ts";
import { settle, settleAnswered } from "./settle.ts";
import { ended, isTaken, ownerOf, take, takeFirst } from "./take.ts";

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
    numberOwner: (key) => database.transact((db) => numberOwner(db, key)),
    contradicted: (days) => database.query((db) => contradicted(db, days)),
  };
}

async function numberOwner(db: Queries, key: DocumentKey): Promise<NumberOwner | undefined> {
  const kept = await lockKept(db, documentKey(key, key.of));
  return kept && isTaken(kept) && isOfAnother(kept.content, key.of) ? await ownerOf(db, key, kept) : undefined;
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
