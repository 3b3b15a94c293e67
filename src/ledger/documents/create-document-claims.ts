import type { Database, Queries } from "../database.ts";
import { begin, beginFirst, ended } from "./begin.ts";
import type { DocumentClaims, DocumentEvent } from "./claims.ts";
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
    history: (workflowId) => database.query((db) => history(db, workflowId)),
  };
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
