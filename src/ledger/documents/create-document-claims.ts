import { sql } from "kysely";

import type { Database, Queries } from "../database.ts";
import { begin, beginFirst, ended } from "./begin.ts";
import type { DocumentClaims, DocumentEvent, SecondDocument } from "./claims.ts";
import { decide, read } from "./decide.ts";
import { settle } from "./settle.ts";

/** Each operation is one statement or one transaction, and may run again after a broken connection. */
export function createDocumentClaims(database: Database): DocumentClaims {
  return {
    begin: (request) =>
      database.inOneStatement(
        (db) => beginFirst(db, request),
        (db) => begin(db, request),
      ),
    ended: (request) => database.query((db) => ended(db, request)),
    settle: async (request) => settle(database, request),
    decide: (request) => database.transact((db) => decide(db, request)),
    read: (workflowId) => database.query((db) => read(db, workflowId)),
    contradicted: (days) => database.query((db) => contradicted(db, days)),
    history: (workflowId) => database.query((db) => history(db, workflowId)),
  };
}

const MOST = 100;

async function contradicted(db: Queries, days: number): Promise<SecondDocument[]> {
  const { rows } = await sql<{ workflow_id: string; recorded: string; reported: string; at: Date }>`
    select workflow_id, detail ->> 'recorded' as recorded, detail ->> 'documentId' as reported, max(at) as at
    from document_claim_events
    where what = 'contradicted' and at > clock_timestamp() - ${days} * interval '1 day'
    group by 1, 2, 3 order by 4 desc limit ${MOST}`.execute(db);
  return rows.map(({ workflow_id: workflowId, recorded, reported, at }) => {
    return { workflowId, recorded, reported, atMs: at.getTime() };
  });
}

async function history(db: Queries, workflowId: string): Promise<DocumentEvent[]> {
  const rows = await db
    .selectFrom("document_claim_events")
    .select(["at", "intent", "what", "detail"])
    .where("workflow_id", "=", workflowId)
    .orderBy("id")
    .execute();
  return rows.map(({ at, intent, what, detail }) => ({ atMs: at.getTime(), intent, what, detail }));
}
