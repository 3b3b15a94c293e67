import { ApplicationFailure, type Client, TimeoutFailure, WorkflowFailedError } from "@temporalio/client";

import { FAILURES, FiscalflowError } from "../contract/errors.ts";
import { type LedgerEvent, LONGEST_EVENT_WAIT_SECONDS, type ReadEventsResult } from "../contract/events.ts";
import { type ReadEventsInput, readEventsInputSchema } from "../contract/schema/job-inputs.ts";
import { readEventsWorkflowId } from "../contract/ids.ts";
import { DEFAULT_CONNECTION, WORKFLOW_TYPES } from "../contract/names.ts";
import { parseInput } from "../contract/schema/parse-input.ts";
import { bounded } from "./bound.ts";
import { workflowError } from "./errors.ts";
import { NoAnswerError, questionToLedger } from "./no-answer.ts";
import { askLedger } from "./start-question.ts";
import { warnOnce } from "./warn-once.ts";

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

/** The cursor is of another business, or the ledger was restored since: read from the first event, and compare. */
export class CursorLostError extends FiscalflowError {
  override readonly name = "CursorLostError";
  override readonly code = FAILURES.cursorLost;
}

/** Longer than the activity waits, so that a page without an event is an answer too. */
const ANSWER_WITHIN_MS = (LONGEST_EVENT_WAIT_SECONDS + 15) * 1000;

/**
 * The events of a business after a cursor, each at least once and in their order. Keep the cursor of each event
 * together with what was made of it.
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
    if (read === "aborted") return;
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

/** Does not wait for what the work makes of the signal. */
async function untilAborted<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T | "aborted"> {
  if (!signal) return await work();
  let abort = (): void => undefined;
  const aborted = new Promise<"aborted">((resolve) => {
    abort = () => resolve("aborted");
  });
  signal.addEventListener("abort", abort);
  try {
    return await Promise.race([aborted, work()]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

async function page(client: Client, input: ReadEventsInput, signal?: AbortSignal): Promise<ReadEventsResult> {
  const { connection = DEFAULT_CONNECTION, businessId, after, waitSeconds = 0 } = input;
  const about = `about the events after ${after ?? "the beginning"}`;
  const workflowId = readEventsWorkflowId({ connection, businessId, after, waits: waitSeconds > 0 });
  try {
    return await bounded(client, ANSWER_WITHIN_MS, () =>
      askLedger<ReadEventsInput, ReadEventsResult>(client, WORKFLOW_TYPES.readEvents, {
        workflowId,
        input,
        connection,
        businessId,
        about,
        executionTimeout: "45 seconds",
        answerWithinMs: ANSWER_WITHIN_MS,
        signal,
      }),
    );
  } catch (error) {
    if (!(error instanceof WorkflowFailedError)) throw error;
    const { cause } = error;
    if (cause instanceof ApplicationFailure && cause.type === FAILURES.cursorLost)
      throw new CursorLostError(cause.message);
    if (cause instanceof TimeoutFailure) throw NoAnswerError.to(questionToLedger(about), cause);
    if (cause instanceof ApplicationFailure && cause.type === FAILURES.ledgerAway)
      throw new NoAnswerError(noEvents(cause.message), cause);
    throw workflowError(cause ?? error);
  }
}

function noEvents(reason: string): string {
  return `The ledger's events could not be read (${reason}). Nothing is lost: read on from the last cursor.`;
}
