import type { Insertable, Selectable } from "kysely";

import { NO_BUSINESS } from "../../contract/index.ts";
import type { EventsTable } from "../tables.ts";
import type { Business, ChainedEvent } from "./chain.ts";

export function businessColumns({ connection, businessId }: Business): { connection: string; business_id: string } {
  return { connection, business_id: businessId ?? NO_BUSINESS };
}

export function rowOf(event: ChainedEvent): Insertable<EventsTable> {
  const { connection, businessId, number, atMs, kind, subject, key, workflowId, runId, content } = event;
  return {
    connection,
    business_id: businessId,
    number,
    at: new Date(atMs),
    kind,
    subject,
    key,
    workflow_id: workflowId,
    run_id: runId,
    content,
    previous_hash: event.previousHash,
    hash: event.hash,
  };
}

export function eventOf(row: Selectable<EventsTable>): ChainedEvent {
  return {
    connection: row.connection,
    businessId: row.business_id,
    number: Number(row.number),
    atMs: row.at.getTime(),
    kind: row.kind,
    subject: row.subject,
    key: row.key,
    workflowId: row.workflow_id,
    runId: row.run_id,
    content: row.content,
    previousHash: row.previous_hash,
    hash: row.hash,
  };
}
