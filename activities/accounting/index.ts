import type { AccountingActivities } from "../../src/contract/index.ts";
import { servedIn, throwIfRetryable } from "../classified-call.ts";
import { stillWaiting } from "../failure.ts";
import { standingNow } from "../service-wait.ts";
import { createBillPaymentActivities } from "./bill-payments.ts";
import { callAndClassify } from "./call-and-classify.ts";
import type { AccountingContext } from "./runtime.ts";
import { createSyncBatchActivities } from "./sync-batches.ts";

export type { AccountingContext, AccountingRuntime, KeyStandingWatch } from "./runtime.ts";

/** The activities of an accounting connection's task queue: one HTTP request each, at most. */
export function createAccountingActivities(context: AccountingContext): AccountingActivities {
  return {
    ...createBillPaymentActivities(context),
    ...createSyncBatchActivities(context),
    ...createAccountingWaitActivities(context),
  };
}

/**
 * The wait of whatever the service does not take now: its key is asked for by a read that changes nothing
 * (docs/decisions/0013).
 */
function createAccountingWaitActivities(context: AccountingContext) {
  const { random } = context;
  return {
    async awaitAccounting(request) {
      const runtime = servedIn(context.accounting, request.connection);
      const { tooSoonForMs, ownTurnInMs, lookPauseMs } = standingNow(request, random);
      const { refused, sinceMs } = request;
      // Since when the key is refused the waiting workflow knows best: it outlives this process.
      const ofRequest = refused && ({ kind: "refused", service: "accounting", sinceMs } as const);
      const trouble = ofRequest ?? runtime.health.trouble;
      if (tooSoonForMs > 0) throw stillWaiting("It was tried a moment ago.", tooSoonForMs, trouble);
      const ofTheKey = refused?.status === 401;
      // What a key may not do only a call of that kind finds out.
      if (!ofTheKey && ownTurnInMs > 0) throw stillWaiting("It was tried a while ago.", ownTurnInMs, trouble);
      const classified = await callAndClassify(runtime, "listCompanies", () => runtime.client.listCompanies());
      const { meaning, message } = classified;
      if (meaning.kind === "transient") throw stillWaiting(message, lookPauseMs, classified.trouble);
      throwIfRetryable(classified, random);
      if (ofTheKey && meaning.kind === "configuration") throw stillWaiting(message, lookPauseMs, trouble);
    },
  } satisfies Partial<AccountingActivities>;
}
