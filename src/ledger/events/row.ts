import { NO_BUSINESS } from "../../contract/index.ts";
import { storableText } from "../storable-text.ts";
import type { Business, Writer } from "./chain.ts";

export function businessColumns({ connection, businessId }: Business): { connection: string; business_id: string } {
  return { connection, business_id: businessId ?? NO_BUSINESS };
}

export function writerColumns({ workflowId, runId }: Writer): { workflow_id: string; run_id: string } {
  return { workflow_id: storableText(workflowId), run_id: storableText(runId) };
}
