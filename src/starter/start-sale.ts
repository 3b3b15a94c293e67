import { randomUUID } from "node:crypto";
import {
  ApplicationFailure,
  type Client,
  WithStartWorkflowOperation,
  type Workflow,
  WorkflowExecutionAlreadyStartedError,
  type WorkflowExecutionDescription,
  WorkflowFailedError,
  type WorkflowIdReusePolicy,
} from "@temporalio/client";
import { FAILURES, REFUSALS } from "../contract/errors.ts";
import { fingerprintOf, type SaleContent, saleContent } from "../contract/sale-content.ts";
import { aboutWorkflow, saleWorkflowId } from "../contract/ids.ts";
import { type OutcomeRequest, UPDATES } from "../contract/updates.ts";
import type { SaleOutcome, WorkflowState } from "../contract/messages.ts";
import {
  DEFAULT_CONNECTION,
  MAIN_TASK_QUEUE,
  SEARCH_ATTRIBUTES,
  STATE_QUERY,
  WORKFLOW_TYPES,
} from "../contract/names.ts";
import { type SaleInput, saleInputSchema, type SaleStart, saleStartSchema } from "../contract/schema/sale.ts";
import { parseInput } from "../contract/schema/parse-input.ts";
import { answeredInTime, isWithoutAnswer } from "./answered-in-time.ts";
import { attributesOf, attributesOfSale, saleIdOf, type SaleKey, saleKeyOf } from "./sale-key.ts";
import { boundMs, TEMPORAL_WITHIN_MS } from "./bound.ts";
import { closedStatusOf, lastCompletedRun, startOfRun } from "./runs.ts";
import { NoAnswerError, queryOf, SaleConflictError, startOf, temporalError, TemporalRefusedError } from "./errors.ts";
import { waitForOutcome } from "./outcome.ts";

/** Also when the caller's wait is over: the caller is to hear whether the sale is there. */
const FIND_WITHIN_MS = 1_000;
/** A cancelled sale notes that in the ledger, and ends. A caller who sells at once under its number waits for that. */
const ENDS_WITHIN_MS = 3_000;

export interface PlannedStart {
  workflowId: string;
  input: SaleInput;
  fingerprint: string;
  memo: { fingerprint: string; content: SaleContent };
}

/** The default business of each connection with an organisation-wide key, or the name of a bound key's business. */
export type DefaultBusinesses = Readonly<Record<string, string | undefined>>;

/** @throws InvalidInputError */
export function saleStart(input: unknown, businesses: DefaultBusinesses): PlannedStart {
  const sale = parseInput(saleInputSchema, input, "sale input");
  const connection = sale.connection ?? DEFAULT_CONNECTION;
  // Filled in before the id is made: the same sale must get the same id, however its business was named.
  const businessId = sale.businessId ?? businesses[connection];
  const content = saleContent(sale, businessId);
  const fingerprint = fingerprintOf(content);
  const { traderInvoiceNumber } = sale;
  return {
    workflowId: saleWorkflowId({ connection, businessId, traderInvoiceNumber }),
    input: { ...sale, ...(businessId !== undefined && { businessId }) },
    fingerprint,
    memo: { fingerprint, content },
  };
}

/**
 * `started`: this call started it. `known`: it was there already, running or finished, with the same content. `closed`:
 * it was there too, but its workflow ended without an outcome: nothing carries it on until it is restarted.
 */
export type StartResult = "started" | "known" | "closed";

/**
 * A number whose only run ended before any create request left is free again.
 * @throws SaleConflictError where the number belongs to a sale with other content; TemporalUnavailableError within ten
 * seconds
 */
export async function startSaleOnce(client: Client, start: PlannedStart): Promise<StartResult> {
  const withinMs = Math.max(Math.min(boundMs() - Date.now(), TEMPORAL_WITHIN_MS), FIND_WITHIN_MS);
  try {
    return await client.withDeadline(Date.now() + withinMs, () => startOrFind(client, start));
  } catch (error) {
    throw temporalError(error);
  }
}

async function startOrFind(client: Client, start: PlannedStart): Promise<StartResult> {
  let reuse: WorkflowIdReusePolicy | undefined = "REJECT_DUPLICATE";
  // Who takes a freed number before this call does is looked at as any other run.
  while (reuse !== undefined) {
    try {
      await client.workflow.start(WORKFLOW_TYPES.sale, startOptions(start, reuse));
      return "started";
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    }
    reuse = await reuseOfFreed(client, start);
  }
  return await checkSameContent(client, start);
}

/**
 * As {@link startSaleOnce}, and waits: for a new sale in one round trip. Where an answer is lost, the sale is started
 * or found again.
 * @throws SaleConflictError, InvalidInputError, SaleFailedError, NoAnswerError, NoWorkerError, TemporalUnavailableError
 */
export async function startAndWait(
  client: Client,
  start: PlannedStart,
  waitMs: number,
): Promise<{ result: StartResult; outcome: SaleOutcome }> {
  const { workflowId, fingerprint } = start;
  const sale = saleKeyOf(start.input);
  const wait = { workflowId, sale, fingerprint, waitMs, asked: startOf(workflowId) };
  let result: StartResult = "started";
  const begin = async (request: OutcomeRequest): Promise<SaleOutcome> => {
    // Of its own: under the id of an update that there is, Temporal gives its answer, and does not say that the sale
    // was there before.
    const updateId = `outcome:begin:${randomUUID()}`;
    const startWorkflowOperation = new WithStartWorkflowOperation(
      WORKFLOW_TYPES.sale,
      startOptions(start, "REJECT_DUPLICATE"),
    );
    try {
      return await client.workflow.executeUpdateWithStart<Workflow, SaleOutcome, [OutcomeRequest]>(UPDATES.outcome, {
        args: [request],
        updateId,
        startWorkflowOperation,
      });
    } catch (error) {
      const isStarted = await startWorkflowOperation.workflowHandle().then(
        () => true,
        () => false,
      );
      if (isStarted || !isWithoutAnswer(error)) throw error;
      result = await startSaleOnce(client, start);
      throw error;
    }
  };
  try {
    const outcome = await waitForOutcome(client, { ...wait, begin });
    return { result, outcome };
  } catch (error) {
    // Of an update-with-start that it refuses Temporal does not say why; of a start it does.
    const isRefused = temporalError(error) instanceof TemporalRefusedError;
    if (!(error instanceof WorkflowExecutionAlreadyStartedError) && !isRefused) throw error;
  }
  result = await startSaleOnce(client, start);
  return { result, outcome: await waitForOutcome(client, wait) };
}

function startOptions(start: PlannedStart, workflowIdReusePolicy: WorkflowIdReusePolicy) {
  return {
    workflowId: start.workflowId,
    taskQueue: MAIN_TASK_QUEUE,
    args: [start.input],
    workflowIdReusePolicy,
    workflowIdConflictPolicy: "FAIL" as const,
    memo: { ...start.memo },
    typedSearchAttributes: attributesOfSale(saleKeyOf(start.input), "resolving-items"),
    ...aboutWorkflow(WORKFLOW_TYPES.sale, start.input, start.input.traderInvoiceNumber),
  };
}

/**
 * Of a sale that its row has, by its number alone: the run opens the row, and carries on what that knows.
 * @param memo of what was asked for, so that a later start can be compared with it
 */
export function startByNumber(key: SaleKey, { fingerprint, content }: Record<string, unknown> = {}) {
  const { invoice: traderInvoiceNumber, connection, businessId } = key;
  return {
    workflowId: saleIdOf(key),
    taskQueue: MAIN_TASK_QUEUE,
    args: [
      {
        ...(connection !== undefined && { connection }),
        ...(businessId !== undefined && { businessId }),
        traderInvoiceNumber,
      },
    ],
    ...(fingerprint !== undefined && { memo: { fingerprint, content } }),
    typedSearchAttributes: attributesOfSale(key),
    ...aboutWorkflow(WORKFLOW_TYPES.sale, key, traderInvoiceNumber),
  };
}

/**
 * Only a run that certainly sent no create request leaves its number free; to the sale that has it, where the run
 * failed with a conflict: the ledger knew the number.
 * @returns undefined where it is taken
 */
async function reuseOfFreed(
  client: Client,
  { workflowId, fingerprint }: PlannedStart,
): Promise<WorkflowIdReusePolicy | undefined> {
  const handle = client.workflow.getHandle(workflowId);
  const run = await handle.describe();
  const isCancelled = run.status.name === "RUNNING" && attributesOf(run).get(SEARCH_ATTRIBUTES.stage) === "cancelled";
  // The same sale is told of its cancellation instead.
  const isEnding = (isCancelled && run.memo?.["fingerprint"] !== fingerprint) || (await namesNothing(client, run));
  if (isEnding) await client.withDeadline(Date.now() + ENDS_WITHIN_MS, () => handle.result()).catch(() => undefined);
  const { status } = isEnding ? await handle.describe() : run;
  if (status.name === "COMPLETED") {
    const outcome = (await handle.result()) as SaleOutcome;
    return outcome.stage === "cancelled" && !outcome.numberTaken ? "ALLOW_DUPLICATE" : undefined;
  }
  if (status.name !== "FAILED") return undefined;
  try {
    await handle.result();
    return undefined;
  } catch (error) {
    const cause = error instanceof WorkflowFailedError ? error.cause : undefined;
    if (!(cause instanceof ApplicationFailure) || !REFUSALS.includes(cause.type)) return undefined;
    // It found no row of the sale, which says nothing of a run before it.
    const isFree = cause.type !== FAILURES.notFound || (await lastCompletedRun(client, { workflowId })) === undefined;
    return isFree ? "ALLOW_DUPLICATE_FAILED_ONLY" : undefined;
  }
}

/** Whether the run is open and was started by a number alone: where the ledger has no such sale, it is about to fail. */
async function namesNothing(client: Client, run: WorkflowExecutionDescription): Promise<boolean> {
  if (run.status.name !== "RUNNING" || run.memo?.["fingerprint"] !== undefined) return false;
  const { lines, saleId } = ((await startOfRun(client, run)).input ?? {}) as Partial<SaleStart>;
  return lines === undefined && saleId === undefined;
}

/**
 * A run that was started without the starter keeps no memo, but tells its fingerprint.
 * @throws NoAnswerError where its input names no content, and it does not know yet whether there is such a sale
 */
async function checkSameContent(client: Client, start: PlannedStart): Promise<"known" | "closed"> {
  const handle = client.workflow.getHandle(start.workflowId);
  const run = await handle.describe();
  const { memo, status } = run;
  const result = closedStatusOf(status.name) ? "closed" : "known";
  const kept = memo?.["fingerprint"];
  const known =
    typeof kept === "string"
      ? kept
      : (await answeredInTime(client, queryOf(start.workflowId), () => handle.query<WorkflowState>(STATE_QUERY)))
          .fingerprint;
  if (known === start.fingerprint) return result;
  const content =
    (memo?.["content"] as SaleContent | undefined) ??
    contentOf((await startOfRun(client, run)).input, start.input.businessId);
  // Not yet prepared: what it was started with is what it is about to be.
  if (known === undefined && !content && result === "known")
    throw NoAnswerError.to(startOf(start.workflowId), undefined);
  if (known === undefined && (!content || fingerprintOf(content) === start.fingerprint)) return result;
  throw SaleConflictError.between(start.input.traderInvoiceNumber, content, start.memo.content);
}

/** Of a run's input, also another program's; undefined for what is no sale, or names none: its run may fail for that. */
function contentOf(input: unknown, defaultBusiness: string | undefined): SaleContent | undefined {
  const { data: sale } = saleStartSchema.safeParse(input);
  if (!sale || (!sale.lines && sale.saleId === undefined)) return undefined;
  return saleContent(sale, sale.businessId ?? defaultBusiness);
}
