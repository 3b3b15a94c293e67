import { condition, sleep } from "@temporalio/workflow";

import type { SaleDocument } from "../../src/contract/index.ts";
import { BetweenTries, callOrGiveUp, isRefusal } from "../calls/between-tries.ts";
import { CancelledByOperator, park, Running, unlessCancelled } from "../operator/attention-list.ts";
import { growingPauseMs } from "../proxies.ts";
import type { SaleContext } from "../sale/state.ts";
import { answered, documentState, readDocument } from "./create-document.ts";
import { countDocument } from "../sdk/interceptors.ts";

/**
 * Somebody may resubmit a document in the service's dashboard, unseen: what follows a retry, a cancellation, or a long wait,
 * rests on a reading that is newer than this.
 */
const FRESH_FOR_MS = 60_000;

interface Watched {
  callbacksSeen: number;
}

interface Rejected extends Watched {
  fixItems: () => Promise<boolean>;
  resubmissions: number;
}

/**
 * After a rejection: if something was corrected that the authority may have missed, the document is submitted again
 * at once; else on a short, bounded schedule; then an operator says `retry` or `cancel`.
 * @throws CancelledByOperator if the document still reads as rejected
 */
export async function resubmitRejected(
  context: SaleContext,
  document: SaleDocument,
  rejected: Rejected,
): Promise<SaleDocument> {
  const { run, profile } = context;
  const reason = document.error ?? "no reason given";
  countDocument(run.counted, "rejected");
  return await submitAgainAfter(context, document, rejected, async (hasChanged) => {
    run.moveTo("rejected", "another look at the items");
    if ((await unlessCancelled(run, rejected.fixItems, hasChanged)) === true || hasChanged()) return "due";
    const delayMs = profile.timings.resubmissionDelaysMs[rejected.resubmissions];
    if (delayMs === undefined) {
      run.moveTo("rejected", "an operator: the authority said no, and the automatic resubmissions are used up");
      const attention = { code: "rejected", message: `The authority said: ${reason}` } as const;
      await park(run, attention, { until: hasChanged });
      return "asked-for";
    }
    const which = ++rejected.resubmissions;
    run.moveTo("rejected", `resubmission ${which}, in ${delayMs / 1000} s. The authority said: ${reason}`);
    let broughtForward = false;
    run.bringForward = () => (broughtForward = true);
    await condition(() => run.cancelDue || broughtForward || hasChanged(), delayMs, {
      summary: `Resubmission ${which} comes after a pause`,
    });
    run.bringForward = undefined;
    if (run.cancelDue) throw new CancelledByOperator();
    return broughtForward ? "asked-for" : "due";
  });
}

/**
 * Once an operator says so: nothing was reversed.
 * @throws CancelledByOperator if it still reads as cancelled
 */
export async function resubmitCancelled(
  context: SaleContext,
  document: SaleDocument,
  watched: Watched,
): Promise<SaleDocument> {
  const { run } = context;
  return await submitAgainAfter(context, document, watched, async (hasChanged) => {
    run.moveTo("rejected", "an operator: the service cancelled the credit note");
    await park(run, { code: "rejected", message: "The service cancelled the credit note." }, { until: hasChanged });
    return "asked-for";
  });
}

/**
 * Waits, and submits the document again, unless it has become something else meanwhile: then it returns that.
 * @param wait ends early if the document has changed. `asked-for`: by an operator
 * @throws CancelledByOperator
 */
async function submitAgainAfter(
  context: SaleContext,
  document: SaleDocument,
  watched: Watched,
  wait: (hasChanged: () => boolean) => Promise<"asked-for" | "due">,
): Promise<SaleDocument> {
  const { run } = context;
  const readAtMs = Date.now();
  const watching = new Running(() => changeAfterCallback(context, document, watched));
  try {
    let why: "asked-for" | "due";
    try {
      why = await wait(() => watching.done);
    } finally {
      await watching.end();
    }
    const changed = watching.resultOrThrow();
    run.moveTo("awaiting-authority", "the answer to the resubmission");
    if (changed) return changed;
    const isOld = why === "asked-for" || Date.now() - readAtMs > FRESH_FOR_MS;
    const current = isOld ? await readDocument(context, document.id) : document;
    run.document = current;
    const state = documentState(current);
    if (state !== "failed" && state !== documentState(document)) return current;
    return await retryDocument(context, current);
  } catch (error) {
    if (!(error instanceof CancelledByOperator)) throw error;
    return await lookBeforeCancel(context, run.document ?? document, error);
  }
}

/** While an operator is needed, reads the document after each callback, until it has become something else. */
async function changeAfterCallback(
  context: SaleContext,
  document: SaleDocument,
  watched: Watched,
): Promise<SaleDocument> {
  const { run } = context;
  const state = documentState(document);
  for (let looks = 0; ; looks++) {
    await condition(() => run.attentions.length > 0 && run.callbacksReceived > watched.callbacksSeen);
    // However many come, the history stays short.
    if (looks > 0) await sleep(growingPauseMs(looks), { summary: "Callbacks brought nothing new: look after a pause" });
    // Counted before the call: a callback that arrives during it may report something newer than its answer.
    watched.callbacksSeen = run.callbacksReceived;
    const read = await readDocument(context, document.id);
    if (documentState(read) !== state) return read;
  }
}

/**
 * A document that has become something else since it was read last is not cancelled: the cancellation is a wish then.
 * @throws the cancellation, if the document still reads as rejected or cancelled, or cannot be read and an operator
 *   says so
 */
async function lookBeforeCancel(
  context: SaleContext,
  document: SaleDocument,
  cancellation: CancelledByOperator,
): Promise<SaleDocument> {
  const { run, calls, target } = context;
  run.documentInDoubt = true;
  run.isCheckingCancel = true;
  run.moveTo(run.stage, "a last look at the document before it is cancelled");
  const asked = { ...target, saleId: document.id, of: run.row };
  const found = await callOrGiveUp(
    run,
    () => calls.read.readDocument("Look at the document before it is cancelled", asked),
    ({ message }) => ({
      code: "unexpected-answer",
      subject: document.id,
      message: `The document cannot be read, so it is not cancelled yet: ${message} A retry reads it again; to acknowledge cancels it as it was read last.`,
    }),
  );
  if (found) answered(context, document.id, found);
  run.document = found?.document ?? document;
  run.documentInDoubt = false;
  run.isCheckingCancel = false;
  if (run.cancelDue) throw cancellation;
  run.moveTo("awaiting-authority", "the document, which is not rejected any more");
  return run.document;
}

/**
 * POST /v1/sales/{id}/retry. If the answer is lost, the document is read before another try; until then it may have
 * completed, so no cancellation is carried out.
 * @throws CancelledByOperator while it is known to be rejected
 */
export async function retryDocument(context: SaleContext, document: SaleDocument): Promise<SaleDocument> {
  const { calls, run, target } = context;
  const betweenTries = new BetweenTries(run);
  try {
    for (;;) {
      run.documentInDoubt = true;
      const asked = { ...target, saleId: document.id, of: run.row };
      const result = await calls.convergingWrite.retryDocument("Submit the document again", asked);
      if (isRefusal(result)) {
        // An unexpected answer does not say whether the document was submitted.
        run.documentInDoubt = result.attention === "unexpected-answer";
        await betweenTries.waitAfterRefusal(result);
        continue;
      }
      betweenTries.clearRefusal();
      if (result.kind !== "converging") answered(context, document.id, result);
      let current: SaleDocument;
      if (result.kind === "converging") current = await readDocument(context, document.id);
      else if (result.kind === "document") current = result.document;
      else current = result.document ?? { ...document, status: "failed", error: result.message };
      run.document = current;
      run.documentInDoubt = false;
      const hadNoEffect =
        result.kind === "converging" && documentState(current) === "failed" && documentState(document) === "failed";
      const pause = (ms: number, options: { summary: string }) => condition(() => run.cancelDue, ms, options);
      if (hadNoEffect) await betweenTries.waitAfterLostAnswer("The resubmission", document.id, pause);
      if (!hadNoEffect || run.cancelDue) return current;
    }
  } finally {
    betweenTries.clearLostAnswer();
  }
}
