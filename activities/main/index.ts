/**
 * The activities of the main queue: what prepares runs and composes requests, what looks a sale or its events up, and
 * what waits. It joins `../ledger.ts` to them, which asks for claims and settles them. Calls of the two services are in
 * `../compliance/` and `../accounting.ts`; the callback URL, and the look at a sale's outcome, are functions that they
 * are given.
 *
 * Stands on: `activities`, `activities/compliance`, `src/compliance`, `src/contract`, `src/contract/schema`,
 * `src/http`, `src/ledger`.
 */
import { setTimeout as delay } from "node:timers/promises";
import { Context } from "@temporalio/activity";
import type { WorkflowClient } from "@temporalio/client";
import { ApplicationFailure } from "@temporalio/common";

import { BRANCH_NOT_SENT, branchSentAs } from "../../src/compliance/index.ts";
import {
  asAnswered,
  bounded,
  FAILURES,
  type FirstOutcomeRequest,
  type KeptDocument,
  type MainActivities,
  type SaleOutcome,
} from "../../src/contract/index.ts";
import { findSaleInputSchema } from "../../src/contract/schema/sale.ts";
import { parseInput } from "../../src/contract/schema/parse-input.ts";
import { readEventsInputSchema } from "../../src/contract/schema/job-inputs.ts";
import { CursorLostError, isThrough, type KeptRecord, LedgerUnavailableError } from "../../src/ledger/index.ts";
import type { AccountingRuntime } from "../accounting.ts";
import { type ActivityContext, runtimeOf } from "../compliance/calls.ts";
import { ageMs, pollPauseMs, stillWaiting } from "../failure.ts";
import { createLedgerActivities } from "../ledger.ts";
import { type CallbackUrlFor, createComposeActivities, createGoodsAtOnce, withGoods } from "./compose.ts";
import { createJobPreparations } from "./prepare-jobs.ts";
import {
  createPrepareActivities,
  failOnInvalidInput,
  lookUpProfileFor,
  requireBusiness,
  type Served,
} from "./prepare.ts";
import { createReplacementActivities } from "./replacement.ts";

/** One look at the outcome of a workflow; given by the worker, which knows how to ask one. */
export type LookAtOutcome = (
  request: FirstOutcomeRequest,
  waitMs: number,
) => Promise<{ outcome: SaleOutcome; endsWait: boolean }>;

export interface MainContext extends ActivityContext {
  workflows: WorkflowClient;
  lookAtOutcome: LookAtOutcome;
  callbackUrlFor: CallbackUrlFor;
  accounting: ReadonlyMap<string, AccountingRuntime>;
  /** Aborted when the worker ends: an activity hears of that itself only after the time of grace. */
  ending: AbortSignal;
}

/** The activities of the main task queue: no API call. */
export function createMainActivities(context: MainContext): MainActivities {
  const preparations = createPrepareActivities(context.connections, context.ledger);
  const compositions = createComposeActivities(context, context.callbackUrlFor);
  const goodsAtOnce = createGoodsAtOnce(context, compositions.composeSale);
  return {
    ...preparations,
    prepareSale: withGoods(preparations.prepareSale, goodsAtOnce),
    ...createJobPreparations(context.connections, context.accounting),
    ...compositions,
    ...createWaits(context),
    ...createReplacementActivities(context),
    ...createLookUps(context),
    ...createLedgerActivities(context),
  };
}

const FIND = "input of the look-up";
const READ = "input of the reading of events";
const LOOK_PAUSE_MS = 500;

/** Somebody waits for the answer: they are not tried again until the ledger is there. */
export function createLookUps({
  connections,
  ledger: { documents, events },
  ending,
}: Pick<MainContext, "ledger" | "ending"> & { connections: ReadonlyMap<string, Served> }) {
  return {
    async findSale({ input }) {
      const { profile, number } = failOnInvalidInput(() => {
        const wanted = parseInput(findSaleInputSchema, input, FIND);
        const profile = lookUpProfileFor(connections, wanted, FIND);
        requireBusiness(FIND, wanted.businessId, profile.businessId);
        return { profile, number: wanted.traderInvoiceNumber };
      });
      const { connection, businessId } = profile;
      try {
        const kept = await documents.findSale({ connection, businessId }, number);
        if (kept) {
          const creditNote = kept.creditNote ? documentOf(kept.creditNote) : null;
          return { found: { ...documentOf(kept), isThrough: isThrough(kept), creditNote } };
        }
        const creditNoteOf = await documents.saleOfCreditNote({ connection, businessId }, number);
        return { found: null, ...(creditNoteOf !== undefined && { creditNoteOf }) };
      } catch (error) {
        throw asAnswerForGood(error);
      }
    },

    async readEvents({ input }) {
      const { business, after, waitSeconds } = failOnInvalidInput(() => {
        const { after: cursor, waitSeconds: seconds = 0, ...of } = parseInput(readEventsInputSchema, input ?? {}, READ);
        const { connection, businessId } = lookUpProfileFor(connections, of, READ);
        return { business: { connection, businessId }, after: cursor, waitSeconds: seconds };
      });
      const deadlineMs = performance.now() + waitSeconds * 1000;
      try {
        for (;;) {
          const found = await events.read(business, after);
          if (found.length > 0 || ending.aborted || performance.now() >= deadlineMs) return { events: found };
          await delay(LOOK_PAUSE_MS, undefined, { signal: Context.current().cancellationSignal });
        }
      } catch (error) {
        throw asAnswerForGood(error);
      }
    },
  } satisfies Partial<MainActivities>;
}

function asAnswerForGood(error: unknown): unknown {
  if (error instanceof CursorLostError) return ApplicationFailure.nonRetryable(error.message, FAILURES.cursorLost);
  if (error instanceof LedgerUnavailableError)
    return ApplicationFailure.nonRetryable(error.message, FAILURES.ledgerAway);
  return error;
}

/** Without what was asked for: it is the largest part, and the document says what became of it. */
function documentOf({ record, decisions, keptAtMs, writer }: KeptRecord): KeptDocument {
  const { type: _type, content: _asked, options: _options, ...known } = record;
  const { movementsPlanned: _planned, expectedTotal: _expected, ...kept } = known;
  const { document, movements, attentions } = kept;
  const listed = bounded({ movements, attentions, decisions });
  return { ...kept, document: asAnswered(document), ...listed, keptAtMs, keptBy: writer };
}

/** Most sales have their receipt by then. No longer: a wait holds a slot, which a sale may need for its next step. */
const FIRST_LOOK_MS = 3_000;
/** Each look is a query, which leaves nothing in the history of the sale. */
const OUTCOME_LOOKS = { firstPollMs: 1_000, longestPollMs: 60_000, longestPollAfterDayMs: 600_000 };

/** Nothing but the database is asked, and goods that are not booked wait for it. */
const BRANCH_LOOKS = { ...OUTCOME_LOOKS, firstPollMs: 2_000 };

function createWaits(context: MainContext) {
  const { ledger, lookAtOutcome, random } = context;
  return {
    /** The wait for a sale on behalf of a caller through Nexus. */
    async awaitFirstOutcome(request) {
      const { attempt, scheduledTimestampMs } = Context.current().info;
      const { outcome, endsWait } = await lookAtOutcome(request, attempt === 1 ? FIRST_LOOK_MS : 0);
      if (endsWait) return outcome;
      const pauseMs = pollPauseMs(ageMs(scheduledTimestampMs), OUTCOME_LOOKS, random);
      throw stillWaiting(`The stage is ${outcome.stage}.`, pauseMs);
    },

    /** The wait of a movement to a named branch, while nobody has looked at an answer that named another one. */
    async awaitBranch({ connection, sinceMs }) {
      const sentAs = branchSentAs(runtimeOf(context, connection).dialect.stock);
      if (sentAs === BRANCH_NOT_SENT) return;
      const hold = await ledger.stock.branchHold(connection, sentAs);
      if (!hold) return;
      throw stillWaiting(
        `The answer to ${hold.referenceId} named branch "${hold.answered}" in place of "${hold.asked}": an operator has to check it first.`,
        pollPauseMs(ageMs(sinceMs), BRANCH_LOOKS, random),
      );
    },
  } satisfies Partial<MainActivities>;
}
