import type { Client, WorkflowExecutionInfo } from "@temporalio/client";
import { randomUUID } from "node:crypto";
import { z } from "zod";

import { DEFAULT_CONNECTION, WORKFLOW_TYPES } from "../contract/index.ts";
import type { Ledger } from "../ledger/index.ts";
import { doneIn, listedRuns, startOfRun } from "../starter/runs.ts";
import { resultOf } from "../starter/state-of-sale.ts";
import { askedOf, ifReadable, saleOfRun } from "./each-minute.ts";

/** Of what a workflow that has ended had done, the database had lost all, or how it ended. */
export type LostRow = { workflowId: string; what: "sale" | "sync batch" };

type Books = Pick<Ledger, "documents" | "syncBatches">;

const batchInput = z.object({ syncBatchId: z.string(), connection: z.string().default(DEFAULT_CONNECTION) });

/**
 * Writes a row, as one that may have been sent, for each sale and each sync batch whose workflow has ended since then
 * (Unix milliseconds) and of which the ledger knows nothing: started again once Temporal has forgotten it, it would be
 * sent again. Of a sale that completed the row gets the document, also a row that knows of less. Those that run have their
 * own steps to tell. To be repeated freely.
 * @throws LedgerUnavailableError, and what Temporal's client throws
 */
export async function* keepLostRows(client: Client, ledger: Books, sinceMs: number): AsyncGenerator<LostRow> {
  const query = `WorkflowType IN ("${WORKFLOW_TYPES.sale}", "${WORKFLOW_TYPES.processSyncBatch}") AND ExecutionStatus != "Running" AND CloseTime > "${new Date(sinceMs).toISOString()}"`;
  for await (const execution of listedRuns(client, { query })) {
    const isSale = execution.type === WORKFLOW_TYPES.sale;
    const isLost = await ifReadable(
      isSale ? keepSale(client, ledger, execution) : keepBatch(client, ledger, execution),
    );
    if (isLost === true) yield { workflowId: execution.workflowId, what: isSale ? "sale" : "sync batch" };
  }
}

async function keepSale(client: Client, { documents }: Books, execution: WorkflowExecutionInfo): Promise<boolean> {
  const sale = saleOfRun(execution);
  if (!sale) return false;
  const row = await documents.findSale(sale, sale.number);
  const isCompleted = execution.status.name === "COMPLETED";
  if (row && !isCompleted) return false;
  // Before anything is written: whoever repeats this finds what could not be read as it was.
  const document = isCompleted ? (await resultOf(client, execution)).sale : null;
  const { workflowId, runId } = execution;
  const writer = { workflowId, runId };
  if (!row) {
    if (!(await doneIn(client, execution)).sent) return false;
    const asked = await askedOf(client, execution, sale.businessId);
    if (!asked) return false;
    await documents.open(sale, asked, { writer, askedAtMs: asked.startedAtMs, inDoubt: true });
  }
  if (!document) return !row;
  const known = row?.record.document;
  if (known?.id === document.id && known.status === document.status) return false;
  const of = { type: "sale", number: sale.number } as const;
  await documents.answered(sale, of, { document, askedAtMs: execution.closeTime?.getTime() ?? 0 }, writer);
  return true;
}

async function keepBatch(client: Client, { syncBatches }: Books, execution: WorkflowExecutionInfo): Promise<boolean> {
  const { workflowId, runId } = execution;
  const { data: batch } = batchInput.safeParse((await startOfRun(client, execution)).input);
  if (!batch || (await syncBatches.read(batch))) return false;
  // The step is from before the restore: it is written as taken, and nobody gets it.
  const { kind } = await syncBatches.take({
    ...batch,
    generation: 1,
    token: randomUUID(),
    execution: randomUUID(),
    underWayForMs: 0,
    scheduledAtMs: 0,
    writer: { workflowId, runId },
    nowMs: Date.now(),
  });
  return kind === "unknown";
}
