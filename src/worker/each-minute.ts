import { type Client, isGrpcServiceError, type WorkflowExecutionInfo, WorkflowNotFoundError } from "@temporalio/client";
import type { MetricMeter } from "@temporalio/common";

import {
  CLOSED_STATUSES,
  DEFAULT_CONNECTION,
  fingerprintOf,
  nairobiDate,
  NO_BUSINESS,
  saleContent,
  SEARCH_ATTRIBUTES,
  SETTLED_STAGES,
  WORKFLOW_TYPES,
} from "../contract/index.ts";
import { saleStartSchema } from "../contract/schema/sale.ts";
import {
  isThrough,
  type Ledger,
  type LostExecution,
  misfitOf,
  type OpenedRecord,
  type SaleOfBusiness,
} from "../ledger/index.ts";
import { isUndecodable } from "../payloads/index.ts";
import { attributesOf } from "../starter/sale-key.ts";
import { closedStatusOf, doneIn, endOf, lastRunOf, listedRuns, msOf, runOf, startOfRun } from "../starter/runs.ts";
import { loggedReason } from "./create-logger.ts";
import { readLedgerNote } from "./ledger-note.ts";
import { polledQueue, TemporalError, unservedReason } from "./require-temporal.ts";
import { temporalGaugeIn } from "./watches.ts";

export const EVERY_MS = 60_000;

export type WatchLog = { warn: (message: string, fields: Record<string, unknown>) => void };

interface Looking {
  /** One look, at what happened since then (Unix milliseconds); from when on the next one looks. */
  look: (sinceMs: number, signal: AbortSignal) => Promise<number>;
  everyMs: number;
  log: WatchLog;
  /** Said when looks begin to fail, and when they fail for another reason. */
  failing: string;
}

const AGAIN_MS = 5_000;

/**
 * Looks now, and then again and again, one look after the other. A look that fails is made again as it was, at first
 * soon: while a worker starts, the ledger may still be waited for.
 * @returns what ends it, once the look under way has ended
 */
export function lookRegularly({ look, everyMs, log, failing }: Looking): () => Promise<void> {
  const stop = new AbortController();
  let sinceMs = 0;
  let said: string | undefined;
  let pauseMs = AGAIN_MS;
  const lookOnce = async (): Promise<void> => {
    try {
      sinceMs = await look(sinceMs, stop.signal);
      said = undefined;
      pauseMs = AGAIN_MS;
      lookIn(everyMs);
    } catch (error) {
      lookIn(Math.min(pauseMs, everyMs));
      pauseMs *= 2;
      const reason = loggedReason(error);
      if (stop.signal.aborted || reason === said) return;
      said = reason;
      log.warn(failing, { reason });
    }
  };
  let timer: NodeJS.Timeout | undefined;
  const lookIn = (ms: number): void => {
    if (stop.signal.aborted) return;
    timer = setTimeout(() => {
      looking = lookOnce();
    }, ms);
    timer.unref();
  };
  let looking = lookOnce();
  return async () => {
    stop.abort();
    clearTimeout(timer);
    await looking;
  };
}

/** A run that has ended may still have a record on its way to the ledger, and lists follow a moment later. */
const OVERLAP_MS = 2 * EVERY_MS;
const IDS_IN_QUERY = 100;
const RUNS_AT_A_TIME = 1_000;

type Documents = Pick<Ledger, "documents">;

interface Watch {
  client: Client;
  ledger: Documents;
  log: WatchLog;
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
  ledger: Documents,
  sinceMs = 0,
  signal?: AbortSignal,
): Promise<void> {
  for await (const run of endedRuns(client, sinceMs)) {
    if (signal?.aborted === true) return;
    await ifReadable(keepClosedRun(client, ledger, run));
  }
  await keepGoingOn(client, ledger, signal);
}

/**
 * The same for a command that reads rows between two of a worker's looks, or where no worker runs: marks what a row
 * would still show as under way. Not in a database that was restored: by its newest event it is told what it has lost.
 */
export async function keepUnseenClosedRuns(client: Client, ledger: Documents & Pick<Ledger, "place">): Promise<void> {
  if (misfitOf(await ledger.place(), await readLedgerNote(client)) !== undefined) return;
  let runs: EndedRun[] = [];
  const keep = async (): Promise<void> => {
    const open = new Set(
      (
        await ledger.documents.among(
          runs.map(({ sale }) => sale),
          "open",
        )
      ).map(textKeyOf),
    );
    for (const run of runs) if (open.has(textKeyOf(run.sale))) await ifReadable(keepClosedRun(client, ledger, run));
    runs = [];
  };
  for await (const run of endedRuns(client, 0)) if (runs.push(run) >= RUNS_AT_A_TIME) await keep();
  await keep();
}

export function textKeyOf({ connection, businessId, number }: SaleOfBusiness): string {
  return JSON.stringify([connection, businessId, number]);
}

interface EndedRun {
  execution: WorkflowExecutionInfo;
  sale: SaleOfBusiness;
}

async function* endedRuns(client: Client, sinceMs: number): AsyncGenerator<EndedRun> {
  const statuses = Object.values(CLOSED_STATUSES).map(quoted).join(", ");
  const query = `WorkflowType = ${quoted(WORKFLOW_TYPES.sale)} AND ExecutionStatus IN (${statuses}) AND CloseTime > ${quoted(new Date(sinceMs).toISOString())}`;
  for await (const execution of listedRuns(client, { query, pageSize: RUNS_AT_A_TIME })) {
    const sale = saleOfRun(execution);
    if (sale) yield { execution, sale };
  }
}

/** Undefined where no starter, and no worker, has named it. */
export function saleOfRun(execution: WorkflowExecutionInfo): SaleOfBusiness | undefined {
  const attributes = attributesOf(execution);
  const number = attributes.get(SEARCH_ATTRIBUTES.invoice);
  const connection = execution.workflowId.split("/")[1] ?? DEFAULT_CONNECTION;
  const businessId = attributes.get(SEARCH_ATTRIBUTES.business) ?? NO_BUSINESS;
  return number === undefined ? undefined : { connection, businessId, number };
}

/** A run that another key encrypts than this process has says nothing here, and holds up no other. */
export async function ifReadable<Answer>(work: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await work;
  } catch (error) {
    if (!isUndecodable(error)) throw error;
    return undefined;
  }
}

async function keepClosedRun(client: Client, ledger: Documents, { execution, sale }: EndedRun): Promise<void> {
  const { workflowId, runId } = execution;
  const { number, ...business } = sale;
  // Asked before the run: what writes the row afterwards carries it on, and is not marked.
  const kept = await ledger.documents.findSale(business, number);
  const known = kept?.writer;
  if (known && known.workflowId !== workflowId) return;
  const last = await lastRunOf(client, workflowId);
  if (!last) return;
  const isLast = last.runId === runId;
  // After a reset or a restart another run carries it on. That one may end too, before it has written anything. Another
  // start that was refused carries nothing on.
  if (!isLast && (known?.runId !== runId || !(await endOf(client, last))?.refusal)) return;
  const run = isLast ? last : await runOf(client, workflowId, runId);
  // Only its refund window was open: there is nothing to carry on.
  if (!run || (kept && isThrough(kept))) return;
  // What was refused has issued nothing, and says nothing of a sale that an earlier run has brought to its end.
  const { closed, refusal } = (await endOf(client, run)) ?? {};
  if (refusal) return;
  const writer = known ?? { workflowId, runId };
  if (!known) {
    const asked = await askedOf(client, execution, business.businessId);
    if (!asked) return;
    await ledger.documents.open(business, asked, {
      writer,
      askedAtMs: asked.startedAtMs,
      // The database may have lost the row.
      inDoubt: (await doneIn(client, execution)).sent,
    });
  }
  await ledger.documents.markClosed(business, { type: "sale", number }, writer, closed);
  // Reserved by this sale, and begun by no workflow of its own.
  const corrected = kept?.record.refund?.replacedBy?.traderInvoiceNumber;
  if (corrected !== undefined)
    await ledger.documents.markClosed(business, { type: "sale", number: corrected }, writer, closed);
  const note = kept?.creditNote;
  if (!note || SETTLED_STAGES.includes(note.record.stage)) return;
  const ofNote = { type: "credit_note", number: note.record.number } as const;
  await ledger.documents.markClosed(business, ofNote, note.writer, closed);
}

/** Takes the mark back where a run carries the sale on that has written nothing yet. */
async function keepGoingOn(client: Client, ledger: Documents, signal: AbortSignal | undefined): Promise<void> {
  const marked = await ledger.documents.closedRows();
  for (let from = 0; from < marked.length; from += IDS_IN_QUERY) {
    if (signal?.aborted === true) return;
    const some = marked.slice(from, from + IDS_IN_QUERY);
    const ids = some.map(({ writer }) => quoted(writer.workflowId)).join(", ");
    const goesOn = new Set<string>();
    for await (const { workflowId } of listedRuns(client, {
      query: `WorkflowId IN (${ids}) AND ExecutionStatus IN ("Running", "Completed")`,
    }))
      goesOn.add(workflowId);
    for (const { business, of, writer } of some.filter((row) => goesOn.has(row.writer.workflowId))) {
      const last = await ifReadable(lastRunOf(client, writer.workflowId));
      if (last && closedStatusOf(last.status.name) === undefined)
        await ledger.documents.markClosed(business, of, writer, undefined);
    }
  }
}

/** What the run was to issue, as its input says; undefined where that is nothing. */
export async function askedOf(
  client: Client,
  execution: WorkflowExecutionInfo,
  businessId: string,
): Promise<OpenedRecord | undefined> {
  const { input, startedAtMs } = await startOfRun(client, execution);
  const { data: sale } = saleStartSchema.safeParse(input);
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

interface UnservedWatch extends Omit<Watch, "ledger"> {
  meter: Pick<MetricMeter, "createGauge">;
  /** What keeps this process from Temporal although somebody listens there, in words; default: nobody looks. */
  whyAway?: (() => Promise<string | undefined>) | undefined;
}

/** A server that stands still is away. */
const ASKED_WITHIN_MS = 10_000;

/**
 * Tells, by a metric and once in the log, while the main queue's tasks go to a version of which no worker polls; and by
 * another one whether Temporal answers.
 * @returns what ends it
 */
export function watchUnservedVersion({ client, log, meter, whyAway }: UnservedWatch): () => Promise<void> {
  const meaning = "1 while Temporal hands the main queue's tasks to a version of which no worker polls";
  const gauge = meter.createGauge("fiscalflow_version_unserved", "int", undefined, meaning);
  const setUp = temporalGaugeIn(meter);
  let said: string | undefined;
  return lookRegularly({
    look: async () => {
      const asked = client.withDeadline(Date.now() + ASKED_WITHIN_MS, () =>
        polledQueue(client.connection, client.options.namespace),
      );
      const { unserved } = await asked.catch(async (error: unknown): Promise<never> => {
        setUp(false);
        const why = await whyAway?.();
        throw why === undefined ? error : new TemporalError("refused", why, { cause: error });
      });
      setUp(true);
      gauge.set(unserved === undefined ? 0 : 1);
      if (unserved !== undefined && unserved !== said) log.warn(unservedReason(unserved), {});
      said = unserved;
      return 0;
    },
    everyMs: EVERY_MS,
    log,
    failing: "which workers poll cannot be looked up now; it is tried again each minute",
  });
}

/** The server ends an attempt by itself at its start-to-close timeout; what stands still is later than that by so much. */
const LATE_MS = 60_000;

/** Of gRPC. */
const NOT_FOUND = 5;
/** `PENDING_ACTIVITY_STATE_SCHEDULED` of Temporal's API: no attempt is under way. */
const SCHEDULED = 1;

interface LostActivitiesWatch {
  client: Client;
  ledger: Pick<Ledger, "lostExecutions">;
  identity: string;
  log: WatchLog;
  everyMs?: number;
  lateMs?: number;
}

/**
 * Ends, once a minute, attempts of at-most-once calls that Temporal shows as under way although their start-to-close
 * timeout is over. An activity that was paused as it ran, whose worker was lost, and that was unpaused stays so for
 * ever: the server has dropped its timer. Its run then reads the claim, as for any lost answer. Nothing is sent by it:
 * the claim's own deadline is over. Every worker process looks; an attempt ends once.
 * @returns what ends it
 */
export function endLostActivities(watch: LostActivitiesWatch): () => Promise<void> {
  const { ledger, log, everyMs = EVERY_MS, lateMs = LATE_MS } = watch;
  return lookRegularly({
    look: async (sinceMs, signal) => {
      const startedAtMs = Date.now();
      for (const one of await ledger.lostExecutions(sinceMs)) {
        if (signal.aborted) return sinceMs;
        await endActivitiesOf(watch, one, lateMs);
      }
      // An hour, so that an attempt is met again when it is late enough.
      return startedAtMs - Math.max(60 * EVERY_MS, 10 * lateMs);
    },
    everyMs,
    log,
    failing: "attempts that stand still cannot be looked up now; it is tried again each minute",
  });
}

async function endActivitiesOf(
  { client, identity, log }: LostActivitiesWatch,
  { workflowId, runId }: LostExecution,
  lateMs: number,
): Promise<void> {
  const { namespace } = client.options;
  const { raw } = await client.workflow
    .getHandle(workflowId, runId)
    .describe()
    .catch((error: unknown) => {
      if (error instanceof WorkflowNotFoundError) return { raw: { pendingActivities: [] } };
      throw error;
    });
  for (const { activityId, activityType, state, lastStartedTime, activityOptions } of raw.pendingActivities ?? []) {
    const timeout = activityOptions?.startToCloseTimeout;
    if (state === SCHEDULED || !timeout || !lastStartedTime) continue;
    if (Date.now() < msOf(lastStartedTime) + msOf(timeout) + lateMs) continue;
    const activity = activityType?.name ?? "";
    log.warn("an attempt whose time is long over was still shown as under way: it is ended", { workflowId, activity });
    const message = "Its worker was lost, and Temporal did not end it at its start-to-close timeout.";
    const failure = { message, source: "fiscalflow", applicationFailureInfo: { nonRetryable: true } };
    const by = { namespace, workflowId, runId, activityId: activityId ?? "", identity };
    await client.workflowService.respondActivityTaskFailedById({ ...by, failure }).catch((error: unknown) => {
      // Another worker was first.
      if (!isGrpcServiceError(error) || error.code !== NOT_FOUND) throw error;
    });
  }
}
