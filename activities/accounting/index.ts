import type { AccountingActivities } from "../../src/contract/index.ts";
import { claimedCall, notServedMessage, servedIn, throwIfRetryable } from "../classified-call.ts";
import { afterTroubleMs, stillWaiting } from "../failure.ts";
import { currentWriter } from "../ledger/beside-calls.ts";
import { standingNow } from "../service-wait.ts";
import { createBillPaymentActivities } from "./bill-payments.ts";
import { type AccountingContext, callAndClassify } from "./calls.ts";

export type { AccountingContext, AccountingRuntime, KeyStandingWatch } from "./calls.ts";

/** The activities of an accounting connection's task queue: one HTTP request each, at most. */
export function createAccountingActivities(context: AccountingContext): AccountingActivities {
  const {
    random,
    ledger: { syncBatches },
  } = context;
  return {
    ...createBillPaymentActivities(context),

    /** A batch is sent at most once for each claim, so nothing here throws in order to be repeated. */
    async processSyncBatch(request) {
      const runtime = context.accounting.get(request.connection);
      // Nothing was sent, and only a result says so: a failure would be one more unknown outcome.
      if (!runtime)
        return { kind: "deferred", sameTry: true, message: notServedMessage(context.accounting, request.connection) };
      const claim = { ...request, writer: currentWriter() };
      return await claimedCall(context, {
        callTimeoutMs: runtime.profile.callTimeoutMs,
        take: (by) => syncBatches.take({ ...claim, ...by, nowMs: context.nowMs() }),
        send: (sendBefore) =>
          callAndClassify(runtime, "processSyncBatch", () =>
            runtime.client.processSyncBatch(request.syncBatchId, { sendBefore }),
          ),
        done: ({ message }) => ({ kind: "processed" as const, message }),
        not: "not-processed",
        settle: (outcome) => syncBatches.settle({ ...claim, outcome }),
        ended: (by) => syncBatches.ended({ ...claim, ...by }),
      });
    },

    /**
     * The wait of whatever the service does not take now: its key is asked for by a read that changes nothing
     * (docs/decisions/0013).
     */
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
      if (meaning.kind === "transient") {
        throw stillWaiting(message, afterTroubleMs(lookPauseMs, classified.error, random), classified.trouble);
      }
      throwIfRetryable(classified, random);
      if (ofTheKey && meaning.kind === "configuration") throw stillWaiting(message, lookPauseMs, trouble);
    },
  };
}
