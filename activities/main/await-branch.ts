import { BRANCH_NOT_SENT, branchSentAs } from "../../src/compliance/index.ts";
import type { MainActivities } from "../../src/contract/index.ts";
import type { ActivityContext } from "../compliance/runtime.ts";
import { runtimeOf } from "../compliance/runtime.ts";
import { stillWaiting } from "../failure.ts";
import { onceThere } from "../ledger/once-there.ts";
import { ageMs, pollPauseMs } from "../poll-schedule.ts";

/** Nothing but the database is asked, and goods that are not booked wait for it. */
const LOOKS = { firstPollMs: 2_000, longestPollMs: 60_000, longestPollAfterDayMs: 600_000 };

/** The wait of a movement to a named branch, while nobody has looked at an answer that named another one. */
export function createBranchWaitActivities(context: ActivityContext): Pick<MainActivities, "awaitBranch"> {
  const { ledger, random } = context;
  return {
    async awaitBranch({ connection, sinceMs }) {
      const sentAs = branchSentAs(runtimeOf(context, connection).dialect.stock);
      if (sentAs === BRANCH_NOT_SENT) return;
      const hold = await onceThere(() => ledger.stock.branchHold(connection, sentAs), random);
      if (!hold) return;
      throw stillWaiting(
        `The answer to ${hold.referenceId} named branch "${hold.answered}" in place of "${hold.asked}": an operator has to check it first.`,
        pollPauseMs(ageMs(sinceMs), LOOKS, random),
      );
    },
  };
}
