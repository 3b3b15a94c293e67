import { type Client, WorkflowExecutionAlreadyStartedError } from "@temporalio/client";

import { NO_BUSINESS, type Stage, syncBatchWorkflowId, WORKFLOW_TYPES } from "../contract/index.ts";
import { plainLine } from "../contract/plain-text.ts";
import type { BatchKey, UnfinishedSale } from "../ledger/index.ts";
import { closedStatusOf, lastRunOf } from "../starter/runs.ts";
import { saleIdOf, type SaleKey } from "../starter/sale-key.ts";
import { startByNumber } from "../starter/start-sale.ts";
import { withTemporal } from "./connect-temporal.ts";
import { type CliContext, CommandFailedError, describeError, inParallel } from "./context.ts";
import { startJob } from "./jobs/run-job.ts";
import type { ResultFlags, Scope } from "./options.ts";
import { counted, printNote, printResult } from "./output.ts";
import { withLedger } from "./with-ledger.ts";

export interface RecoverFlags extends Scope, ResultFlags {
  dryRun?: boolean;
  ended?: boolean;
}

/**
 * `started`, or with `--dry-run` `to-start`: Temporal knew no workflow of it. `known`: it knows one. `ended`: its
 * workflow was ended before, and it was not asked for. `failed`: it could not be started.
 */
type Result = "started" | "to-start" | "known" | "ended" | "failed";

interface Recovered {
  workflowId: string;
  /** Of a sale, and where its row says that it stands. */
  invoice?: string;
  stage?: Stage;
  syncBatchId?: string;
  result: Result;
  error?: string;
}

const AT_ONCE = 10;

/**
 * Starts the workflow of each sale of which the ledger knows that something is left to be done, and Temporal nothing;
 * and of each sync batch that was sent, or was to be sent again. What was sent is under its claim in the ledger, so
 * that no run sends it again; run twice, it starts nothing twice.
 */
export async function recover(context: CliContext, flags: RecoverFlags): Promise<void> {
  const { connection, business: businessId, json = false } = flags;
  const counts: Record<Result, number> = { started: 0, "to-start": 0, known: 0, ended: 0, failed: 0 };
  const all: Recovered[] = [];
  const note = (one: Recovered): void => {
    counts[one.result] += 1;
    if (json) all.push(one);
    else if (one.result !== "known" && one.result !== "ended") printResult(context, false, undefined, lineOf(one));
  };
  const tell = (): void => {
    if (json) printResult(context, true, all, "");
    printNote(context, summaryOf(counts));
  };
  const lookAtAll = withTemporal(context, ({ client }) =>
    withLedger(
      context,
      async ({ documents, syncBatches }) => {
        let after: Parameters<typeof documents.unfinished>[0]["after"];
        do {
          const { sales, next } = await documents.unfinished({ connection, businessId, after });
          await inParallel(sales, AT_ONCE, async (sale) => note(await recovered(client, sale, flags)), context.signal);
          after = next;
        } while (after && !context.signal.aborted);
        // They belong to a connection, and to no business.
        const batches = businessId === undefined ? await syncBatches.unfinished() : [];
        const asked = batches.filter((batch) => connection === undefined || batch.connection === connection);
        for (const batch of asked) if (!context.signal.aborted) note(await recoveredBatch(client, batch, flags));
      },
      { quiet: json },
    ),
  );
  await lookAtAll.catch((error: unknown) => {
    // What was started is told; but where nobody could look, nobody knows that nothing is open.
    if (Object.values(counts).some((count) => count > 0)) tell();
    throw error;
  });
  tell();
  if (counts.ended > 0)
    printNote(
      context,
      `${counted(counts.ended, "sale")} more: terminated, failed or timed out before. --ended begins these too.`,
    );
  if (counts.failed > 0) throw new CommandFailedError("");
}

type Outcome = Pick<Recovered, "result" | "error">;

async function recovered(client: Client, sale: UnfinishedSale, flags: RecoverFlags): Promise<Recovered> {
  const { connection, businessId, number: invoice, stage, isEnded, asked } = sale;
  const key: SaleKey = { invoice, connection, ...(businessId !== NO_BUSINESS && { businessId }) };
  const workflowId = saleIdOf(key);
  const outcome = await outcomeOf(async () => {
    const last = await lastRunOf(client, workflowId);
    const closed = last && closedStatusOf(last.status.name);
    if (closed && (!isEnded || flags.ended === true))
      return { result: "failed", error: `Temporal has its workflow as ${closed}: fiscalflow sale restart` };
    if (last) return { result: "known" };
    if (isEnded && flags.ended !== true) return { result: "ended" };
    if (!asked) return { result: "failed", error: "the ledger does not have what was asked for: start it again" };
    if (flags.dryRun === true) return { result: "to-start" };
    await client.workflow.start(WORKFLOW_TYPES.sale, {
      ...startByNumber(key, { ...asked }),
      workflowIdReusePolicy: "REJECT_DUPLICATE",
      workflowIdConflictPolicy: "FAIL",
    });
    return { result: "started" };
  });
  return { workflowId, invoice, stage, ...outcome };
}

async function recoveredBatch(client: Client, batch: BatchKey, { dryRun }: RecoverFlags): Promise<Recovered> {
  const workflowId = syncBatchWorkflowId(batch);
  const outcome = await outcomeOf(async () => {
    if (await lastRunOf(client, workflowId)) return { result: "known" };
    if (dryRun === true) return { result: "to-start" };
    const isNew = await startJob(client, WORKFLOW_TYPES.processSyncBatch, workflowId, batch);
    return { result: isNew ? "started" : "known" };
  });
  return { workflowId, syncBatchId: batch.syncBatchId, ...outcome };
}

/** One that cannot be started keeps none of the others from it. */
async function outcomeOf(start: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await start();
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return { result: "known" };
    return { result: "failed", error: describeError(error).message };
  }
}

function lineOf({ workflowId, stage, result, error }: Recovered): string {
  const what = result === "to-start" ? "would be started" : result === "failed" ? `not started: ${error}` : "started";
  return plainLine(`${workflowId}  ${stage ?? "not processed"}  ${what}`);
}

function summaryOf(counts: Record<Result, number>): string {
  const { started, known, failed } = counts;
  const open = started + counts["to-start"] + known + failed;
  if (open === 0) return "Nothing to start: nothing is open.";
  const begun = counts["to-start"] > 0 ? `${counts["to-start"]} would be started` : `${started} started`;
  const others = [
    ...(known > 0 ? [`${known} known to Temporal`] : []),
    ...(failed > 0 ? [`${failed} not started`] : []),
  ];
  return `Open in the ledger: ${open}, of which ${[begun, ...others].join(", ")}.`;
}
