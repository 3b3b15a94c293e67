import { NO_BUSINESS } from "../../contract/index.ts";
import type { RowOf } from "../tables.ts";
import { storableText } from "../storable-text.ts";
import type { Business, ChainedEvent, Writer } from "./chain.ts";

export function businessColumns({ connection, businessId }: Business): { connection: string; business_id: string } {
  return { connection, business_id: businessId ?? NO_BUSINESS };
}

export function writerColumns({ workflowId, runId }: Writer): { workflow_id: string; run_id: string } {
  return { workflow_id: storableText(workflowId), run_id: storableText(runId) };
}

export function eventOf(row: RowOf<"events">): ChainedEvent {
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
    salt: row.salt,
    previousHash: row.previous_hash,
    hash: row.hash,
  };
}
