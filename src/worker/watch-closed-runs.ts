import type { Client, WorkflowExecutionInfo } from "@temporalio/client";

import {
  CLOSED_STATUSES,
  DEFAULT_CONNECTION,
  fingerprintOf,
  nairobiDate,
  NO_BUSINESS,
  restartedOf,
  saleContent,
  SEARCH_ATTRIBUTES,
  SETTLED_STAGES,
  WORKFLOW_TYPES,
} from "../contract/index.ts";
import { saleStartSchema } from "../contract/schema/index.ts";
import type { Ledger, OpenedRecord } from "../ledger/index.ts";
import { attributesOf } from "../starter/attributes.ts";
import { closedRunOf, closedStatusOf, lastRunOf, wasRefused } from "../starter/closed-run.ts";
import { startOfRun } from "../starter/input-of-run.ts";
import { lookRegularly } from "./look-regularly.ts";

const EVERY_MS = 60_000;
/** A run that has ended may still have a record on its way to the ledger, and lists follow a moment later. */
const OVERLAP_MS = 2 * EVERY_MS;
const IDS_IN_QUERY = 100;
interface Watch {
  client: Client;
  ledger: Pick<Ledger, "documents">;
  log: { warn: (message: string, fields: Record<string, unknown>) => void };
}

/**
 * Tells the ledger once a minute of sales whose run ended without an outcome: such a run cannot say so
 * of itself, and reports would show it as under way for ever. Every worker process looks; what one has kept stays as it
 * is.
 * @returns what ends it
 */
export function watchClosedRuns({ client, ledger, log }: Watch): () => Promise<void> {
  return lookRegularly({
    look: async (sinceMs, signal) => {
      const startedAtMs = Date.now();
      await keepClosedRuns(client, ledger, sinceMs, signal);
      return startedAtMs - OVERLAP_MS;
    },
    everyMs: EVERY_MS,
    log,
    failing: "whether runs of sales were terminated cannot be looked up now; it is tried again each minute",
  });
}

/** One look, at the runs that have ended since. @throws LedgerUnavailableError, and what Temporal's client throws */
export async function keepClosedRuns(
  client: Client,
  ledger: Pick<Ledger, "documents">,
  sinceMs = 0,
  signal?: AbortSignal,
): Promise<void> {
  const statuses = Object.values(CLOSED_STATUSES).map(quoted).join(", ");
  const query = `WorkflowType = ${quoted(WORKFLOW_TYPES.sale)} AND ExecutionStatus IN (${statuses}) AND CloseTime > ${quoted(new Date(sinceMs).toISOString())}`;
  for await (const execution of client.workflow.list({ query })) {
    if (signal?.aborted === true) return;
    const { workflowId, runId } = execution;
    const attributes = attributesOf(execution);
    const number = attributes.get(SEARCH_ATTRIBUTES.invoice);
    if (number === undefined) continue;
    const business = {
      connection: workflowId.split("/")[1] ?? DEFAULT_CONNECTION,
      businessId: attributes.get(SEARCH_ATTRIBUTES.business) ?? NO_BUSINESS,
    };
    const of = { type: "sale", number } as const;
    // Asked before the run: whoever writes the row afterwards carries it on, and is not marked.
    const kept = await ledger.documents.findSale(business, number);
    const known = kept?.writer;
    if (known && known.workflowId !== workflowId) continue;
    const run = await lastRunOf(client, workflowId);
    // After a reset or a restart another run carries it on. That one may end too, before it has written anything.
    if (run?.runId !== runId) continue;
    // What was refused has issued nothing, and says nothing of a sale that an earlier run has brought to its end.
    if (await wasRefused(client, run)) continue;
    const writer = known ?? { workflowId, runId };
    if (!known) {
      const asked = await askedOf(client, execution, business.businessId);
      if (!asked) continue;
      await ledger.documents.open(business, asked, {
        writer,
        askedAtMs: asked.startedAtMs,
        inDoubt: await maySend(client, execution),
      });
    }
    const closed = await closedRunOf(client, run);
    await ledger.documents.markClosed(business, of, writer, closed);
    // Reserved by this sale, and begun by no workflow of its own.
    const corrected = kept?.record.refund?.replacedBy?.traderInvoiceNumber;
    if (corrected !== undefined)
      await ledger.documents.markClosed(business, { type: "sale", number: corrected }, writer, closed);
    const note = kept?.creditNote;
    if (!note || SETTLED_STAGES.includes(note.record.stage)) continue;
    const ofNote = { type: "credit_note", number: note.record.number } as const;
    await ledger.documents.markClosed(business, ofNote, note.writer, closed);
  }
  const marked = await ledger.documents.closedRows();
  for (let from = 0; from < marked.length; from += IDS_IN_QUERY) {
    if (signal?.aborted === true) return;
    const some = marked.slice(from, from + IDS_IN_QUERY);
    const ids = some.map(({ writer }) => quoted(writer.workflowId)).join(", ");
    const goesOn = new Set<string>();
    for await (const { workflowId } of client.workflow.list({
      query: `WorkflowId IN (${ids}) AND ExecutionStatus IN ("Running", "Completed")`,
    }))
      goesOn.add(workflowId);
    for (const { business, of, writer } of some.filter((row) => goesOn.has(row.writer.workflowId))) {
      const last = await lastRunOf(client, writer.workflowId);
      if (last && closedStatusOf(last.status.name) === undefined)
        await ledger.documents.markClosed(business, of, writer, undefined);
    }
  }
}

/** Whether a sale without a row may have sent its create request all the same: the database has lost it. */
async function maySend(client: Client, { workflowId, runId, memo }: WorkflowExecutionInfo): Promise<boolean> {
  const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
  const isSent = events?.some(
    ({ activityTaskScheduledEventAttributes: task }) => task?.activityType?.name === "createSale",
  );
  return isSent === true || restartedOf(memo)?.sent === true;
}

/** What the run was to issue, as its input says; undefined where that is nothing. */
async function askedOf(
  client: Client,
  execution: WorkflowExecutionInfo,
  businessId: string,
): Promise<OpenedRecord | undefined> {
  const { input, startedAtMs } = await startOfRun(client, execution);
  const { data: sale } = saleStartSchema.safeParse(input[0]);
  // One that carries on a sale of the ledger asks for no other.
  if (!sale || (!sale.lines && sale.saleId === undefined)) return undefined;
  const { traderInvoiceNumber: number, saleDate: date = nairobiDate(startedAtMs) } = sale;
  const content = saleContent(sale, sale.businessId ?? businessId);
  const asked = { content, fingerprint: fingerprintOf(content) };
  return { type: "sale", number, stage: "resolving-items", startedAtMs, date, ...asked };
}

function quoted(text: string): string {
  return JSON.stringify(text);
}
