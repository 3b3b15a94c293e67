import { Context } from "@temporalio/activity";
import type { WorkflowClient } from "@temporalio/client";

import { BRANCH_NOT_SENT, branchSentAs } from "../../src/compliance/index.ts";
import { type FirstOutcomeRequest, type MainActivities, type SaleOutcome } from "../../src/contract/index.ts";
import { type ActivityContext, runtimeOf } from "../compliance/calls.ts";
import { stillWaiting } from "../failure.ts";
import { ageMs, pollPauseMs } from "../poll-schedule.ts";

/** One look at the outcome of a workflow; given by the worker, which knows how to ask one. */
export type LookAtOutcome = (
  request: FirstOutcomeRequest,
  waitMs: number,
) => Promise<{ outcome: SaleOutcome; endsWait: boolean }>;

/** Most sales have their receipt by then. No longer: a wait holds a slot, which a sale may need for its next step. */
const FIRST_LOOK_MS = 3_000;
/** Each look is a query, which leaves nothing in the history of the sale. */
const OUTCOME_LOOKS = { firstPollMs: 1_000, longestPollMs: 60_000, longestPollAfterDayMs: 600_000 };

/** Nothing but the database is asked, and goods that are not booked wait for it. */
const LOOKS = { firstPollMs: 2_000, longestPollMs: 60_000, longestPollAfterDayMs: 600_000 };

export interface WaitContext extends ActivityContext {
  workflows: WorkflowClient;
  lookAtOutcome: LookAtOutcome;
}

export function createWaits(context: WaitContext) {
  const { ledger, lookAtOutcome, random } = context;
  return {
    /** The wait for a sale on behalf of a caller through Nexus. */
    async awaitFirstOutcome(request) {
      const { attempt, scheduledTimestampMs } = Context.current().info;
      const { outcome, endsWait } = await lookAtOutcome(request, attempt === 1 ? FIRST_LOOK_MS : 0);
      if (endsWait) return outcome;
      throw stillWaiting(
        `The stage is ${outcome.stage}.`,
        pollPauseMs(ageMs(scheduledTimestampMs), OUTCOME_LOOKS, random),
      );
    },

    /** The wait of a movement to a named branch, while nobody has looked at an answer that named another one. */
    async awaitBranch({ connection, sinceMs }) {
      const sentAs = branchSentAs(runtimeOf(context, connection).dialect.stock);
      if (sentAs === BRANCH_NOT_SENT) return;
      const hold = await ledger.stock.branchHold(connection, sentAs);
      if (!hold) return;
      throw stillWaiting(
        `The answer to ${hold.referenceId} named branch "${hold.answered}" in place of "${hold.asked}": an operator has to check it first.`,
        pollPauseMs(ageMs(sinceMs), LOOKS, random),
      );
    },
  } satisfies Partial<MainActivities>;
}
