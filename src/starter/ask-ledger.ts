import { ApplicationFailure, type Client, TimeoutFailure, WorkflowFailedError } from "@temporalio/client";

import { FAILURES } from "../contract/errors.ts";
import type { FindSaleResult, FoundSale } from "../contract/document-calls.ts";
import { type LedgerEvent, LONGEST_EVENT_WAIT_SECONDS, type ReadEventsResult } from "../contract/events.ts";
import { aboutWorkflow, findSaleWorkflowId, NO_BUSINESS, readEventsWorkflowId } from "../contract/ids.ts";
import { DEFAULT_CONNECTION, MAIN_TASK_QUEUE, SEARCH_ATTRIBUTES, WORKFLOW_TYPES } from "../contract/names.ts";
import { type ReadEventsInput, readEventsInputSchema } from "../contract/schema/job-inputs.ts";
import { parseInput } from "../contract/schema/parse-input.ts";
import { type FindSaleInput, findSaleInputSchema } from "../contract/schema/sale.ts";
import { answeredInTime } from "./answered-in-time.ts";
import { bounded, within } from "./bound.ts";
import {
  LedgerAwayError,
  NoAnswerError,
  questionToLedger,
  SaleNotFoundError,
  warnOnce,
  workflowError,
} from "./errors.ts";
import { type SaleKey, saleIdOf } from "./sale-key.ts";

interface QuestionToLedger {
  workflowId: string;
  input: { connection?: string | undefined; businessId?: string | undefined };
  about: string;
  answerWithinMs: number;
  signal?: AbortSignal | undefined;
  away: (cause: Error) => Error;
}

/** Without a worker the question ends by itself: nobody reads a late answer. */
const LATEST_ANSWER_MS = 15_000;

/**
 * Asks by a short workflow, so that a caller needs no database, or joins the one that asks the same just now.
 * @throws NoAnswerError, TemporalUnavailableError, or what `away` makes
 */
async function askLedger<Answer>(
  client: Client,
  type: typeof WORKFLOW_TYPES.findSale | typeof WORKFLOW_TYPES.readEvents,
  { workflowId, input, about, answerWithinMs, signal, away }: QuestionToLedger,
): Promise<Answer> {
  const ask = async () => {
    const handle = await client.workflow.start<(asked: object) => Promise<Answer>>(type, {
      workflowId,
      taskQueue: MAIN_TASK_QUEUE,
      args: [input],
      workflowIdReusePolicy: "ALLOW_DUPLICATE",
      workflowIdConflictPolicy: "USE_EXISTING",
      workflowExecutionTimeout: answerWithinMs + LATEST_ANSWER_MS,
      typedSearchAttributes: [
        { key: { name: SEARCH_ATTRIBUTES.business, type: "KEYWORD" }, value: input.businessId ?? NO_BUSINESS },
      ],
      ...aboutWorkflow(type, input, about),
    });
    return await within(client, answerWithinMs, () => handle.result());
  };
  try {
    return await answeredInTime(client, questionToLedger(about), ask, { withinMs: answerWithinMs, signal });
  } catch (error) {
    if (!(error instanceof WorkflowFailedError)) throw error;
    const { cause } = error;
    if (cause instanceof TimeoutFailure) throw NoAnswerError.to(questionToLedger(about), cause);
    if (cause instanceof ApplicationFailure && cause.type === FAILURES.ledgerAway) throw away(cause);
    throw workflowError(cause ?? error);
  }
}

/** Long enough for a busy worker, and for the ledger to be tried; short enough for somebody who waits. */
const SALE_WITHIN_MS = 15_000;

/**
 * The sale as the ledger keeps it, for a caller who has learned that Temporal does not know its workflow.
 * @param key with the business filled in, as the sale's workflow id has it
 * @throws SaleNotFoundError where the ledger does not know it either, or knows the number as a credit note's
 * @throws NoAnswerError, LedgerAwayError, TemporalUnavailableError within 20 seconds
 * @throws InvalidInputError for a key that names no sale, or a connection that no worker has
 */
export async function findClosedSale(client: Client, key: SaleKey): Promise<FoundSale> {
  const { invoice: traderInvoiceNumber, connection = DEFAULT_CONNECTION, businessId } = key;
  const named = { connection, ...(businessId !== undefined && { businessId }), traderInvoiceNumber };
  const input: FindSaleInput = parseInput(findSaleInputSchema, named, "name of the sale");
  const saleId = saleIdOf(key);
  const { found, creditNoteOf } = await askLedger<FindSaleResult>(client, WORKFLOW_TYPES.findSale, {
    workflowId: findSaleWorkflowId({ ...named, connection }),
    input,
    about: `about sale ${traderInvoiceNumber}`,
    answerWithinMs: SALE_WITHIN_MS,
    away: (cause) => new LedgerAwayError(saleId, cause),
  });
  if (found) return found;
  if (creditNoteOf === undefined) throw SaleNotFoundError.of(saleId, "ledger");
  const isOf = `${traderInvoiceNumber} is the number of a credit note, of the sale ${creditNoteOf}`;
  throw new SaleNotFoundError(`${isOf}. Give the sale's number.`, creditNoteOf);
}

export interface EventsRequest {
  connection?: string | undefined;
  businessId?: string | undefined;
  /** The cursor of the last event that was dealt with; default: from the first. */
  after?: string | undefined;
  /** Go on with the events to come, until `signal` is aborted. Default: end with the last one that there is. */
  follow?: boolean | undefined;
  /** Ends the loop at once, also while it waits for the next event. */
  signal?: AbortSignal | undefined;
}

/** Longer than the activity waits, so that a page without an event is an answer too. */
const EVENTS_WITHIN_MS = (LONGEST_EVENT_WAIT_SECONDS + 15) * 1000;

/**
 * Each at least once and in order. Keep the cursor of each event together with what was made of it.
 * @throws CursorLostError; NoAnswerError while no worker or no ledger answers: read on from the last cursor
 */
export async function* readEvents(
  client: Client,
  request: EventsRequest,
): AsyncGenerator<LedgerEvent, void, undefined> {
  const { follow = false, signal, ...of } = request;
  let { after } = of;
  for (let waitSeconds = 0; signal?.aborted !== true;) {
    const input = { ...of, ...(after !== undefined && { after }), waitSeconds };
    const parsed = parseInput<ReadEventsInput>(readEventsInputSchema, input, "events request");
    const read = await untilAborted(signal, () => page(client, parsed, signal));
    if (!read) return;
    const { events } = read;
    if (events.length === 0 && after === undefined) warnOfNothing(parsed);
    for (const event of events) {
      if (signal?.aborted) return;
      yield event;
      after = event.cursor;
    }
    if (events.length === 0 && !follow) return;
    waitSeconds = events.length === 0 ? LONGEST_EVENT_WAIT_SECONDS : 0;
  }
}

/** No event at all is what a mistyped business has, and a new one: nothing else tells the two from each other. */
function warnOfNothing({ connection = DEFAULT_CONNECTION, businessId }: ReadEventsInput): void {
  const business = businessId === undefined ? "its business" : `business "${businessId}"`;
  const message = `The ledger has no event yet of connection "${connection}" and ${business}. If it should have, check both names.`;
  warnOnce("NoEvents", message);
}

/** Undefined as soon as the signal is aborted: does not wait for what the work makes of it. */
async function untilAborted<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T | undefined> {
  if (!signal) return await work();
  let abort = (): void => undefined;
  const aborted = new Promise<undefined>((resolve) => {
    abort = () => resolve(undefined);
  });
  signal.addEventListener("abort", abort);
  try {
    return await Promise.race([aborted, work()]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

function page(client: Client, input: ReadEventsInput, signal?: AbortSignal): Promise<ReadEventsResult> {
  const { connection = DEFAULT_CONNECTION, businessId, after, waitSeconds = 0 } = input;
  return bounded(client, EVENTS_WITHIN_MS, () =>
    askLedger<ReadEventsResult>(client, WORKFLOW_TYPES.readEvents, {
      workflowId: readEventsWorkflowId({ connection, businessId, after, waits: waitSeconds > 0 }),
      input,
      about: `about the events after ${after ?? "the beginning"}`,
      answerWithinMs: EVENTS_WITHIN_MS,
      signal,
      away: (cause) =>
        new NoAnswerError(
          `The ledger's events could not be read (${cause.message}). Nothing is lost: read on from the last cursor.`,
          cause,
        ),
    }),
  );
}
