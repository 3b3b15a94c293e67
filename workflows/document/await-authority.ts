import { CancellationScope, condition, isCancellation } from "@temporalio/workflow";

import type { ReadDocumentResult, SaleDocument } from "../../src/contract/index.ts";
import { BetweenTries } from "../calls/between-tries.ts";
import { attentionKey, park, unlessCancelled } from "../operator/attention-list.ts";
import type { SaleContext } from "../sale/state.ts";
import { fateOf, readDocument, retryDocument } from "./known-document.ts";

export type FinalStatus = "completed" | "cancelled-by-service" | "cancelled-by-person";

interface AwaitedDocument {
  callbackExpected: boolean;
  /** How many callbacks had come before the document was asked for. */
  callbacksSeen: number;
  mend: () => Promise<boolean>;
}

/**
 * Sees an issued document through, from whatever status it has, to its end. `run.document` is always the latest of it.
 */
export async function awaitFinalStatus(
  work: SaleContext,
  issued: SaleDocument,
  awaited: AwaitedDocument,
): Promise<FinalStatus> {
  const { run } = work;
  const wait: Wait = { ...awaited, sinceMs: Date.now(), slowTold: false, betweenTries: new BetweenTries(run) };
  const resubmissions = { made: 0 };
  let document = issued;
  for (;;) {
    run.document = document;
    switch (fateOf(document)) {
      case "whole":
        return "completed";
      case "cancelled":
        return "cancelled-by-service";
      case "failed": {
        const next = await resubmit(work, document, resubmissions, awaited.mend);
        if (next === "cancelled") return "cancelled-by-person";
        document = next;
        wait.sinceMs = Date.now();
        wait.slowTold = false;
        break;
      }
      case "in-flight":
      case "strange":
      case "unsigned":
        run.moveTo(
          run.inFlightStage,
          wait.callbackExpected ? "the authority: a callback, or the next look" : "the authority: the next look",
        );
        document = await awaitAuthority(work, document, wait);
    }
  }
}

/** Automatic resubmissions of one document so far; they are bounded for its whole life. */
interface Resubmissions {
  made: number;
}

/**
 * What follows a rejection: where something was mended that the authority may have missed, at once; else on a short,
 * bounded, growing schedule, since the document may never have reached the authority; then a person says `retry` or
 * `cancel`.
 * @param mend tells whether it mended anything new
 * @throws CancelledByPerson
 */
async function resubmit(
  work: SaleContext,
  document: SaleDocument,
  resubmissions: Resubmissions,
  mend: () => Promise<boolean>,
): Promise<SaleDocument | "cancelled"> {
  const { run, profile } = work;
  const said = document.error ?? "no reason given";
  run.moveTo("rejected", "another look at the items");
  if (run.cancelDue) return "cancelled";
  const mended = await unlessCancelled(run, mend);
  if (run.cancelDue) return "cancelled";
  if (!mended) {
    const delayMs = profile.timings.resubmissionDelaysMs[resubmissions.made];
    if (delayMs === undefined) {
      run.moveTo("rejected", "a person: the authority said no, and the automatic resubmissions are used up");
      const verdict = await park(run, { code: "rejected", message: `The authority said: ${said}` });
      if (verdict === "cancel") return "cancelled";
    } else {
      resubmissions.made++;
      run.moveTo("rejected", `resubmission ${resubmissions.made}, in ${delayMs / 1000} s. The authority said: ${said}`);
      let broughtForward = false;
      run.bringForward = () => (broughtForward = true);
      await condition(() => run.cancelDue || broughtForward, delayMs);
      run.bringForward = undefined;
      if (run.cancelDue) return "cancelled";
    }
  }
  run.moveTo("awaiting-authority", "the answer to the resubmission");
  return await retryDocument(work, document);
}

/** One wait for the authority: from a submission until the document is final or is submitted again. */
export interface Wait {
  sinceMs: number;
  callbackExpected: boolean;
  /** How many callbacks had come when the document was read last. */
  callbacksSeen: number;
  /** A person was told once that this takes long; what they have taken note of is not raised again. */
  slowTold: boolean;
  /** Of the looks. */
  betweenTries: BetweenTries;
}

/**
 * Waits until the document is whole, failed or cancelled: woken by callbacks, with polling as the net beneath them.
 * A callback changes when the document is read, never what is believed.
 */
async function awaitAuthority(work: SaleContext, document: SaleDocument, wait: Wait): Promise<SaleDocument> {
  const { run } = work;
  let current = document;
  while (!isFinal(current)) {
    run.document = current;
    current = await nextLook(work, current, wait);
  }
  for (const code of ["authority-slow", "unexpected-answer"] as const) run.clear(attentionKey(code, current.id));
  return current;
}

function isFinal(document: SaleDocument): boolean {
  const fate = fateOf(document);
  return fate === "whole" || fate === "failed" || fate === "cancelled";
}

async function nextLook(work: SaleContext, document: SaleDocument, wait: Wait): Promise<SaleDocument> {
  const { run, profile } = work;
  const { timings } = profile;
  const nowMs = Date.now();
  const calledBack = (): boolean => run.callbacksReceived > wait.callbacksSeen;
  const slowKey = attentionKey("authority-slow", document.id);
  const strangeKey = attentionKey("unexpected-answer", document.id);
  const retriesBefore = { slow: run.retriesOf(slowKey), strange: run.retriesOf(strangeKey) };
  const askedToResubmit = (): boolean => run.retriesOf(slowKey) > retriesBefore.slow;
  const asked = (): boolean => askedToResubmit() || run.retriesOf(strangeKey) > retriesBefore.strange;
  const firstPollAtMs = wait.sinceMs + firstPollDelayMs(document, wait, timings);
  const slowAtMs = wait.sinceMs + timings.slowAfterMs;
  if (fateOf(document) === "strange") raiseStrange(work, document);
  else if (fateOf(document) === "in-flight") run.clear(strangeKey);

  if (!calledBack() && nowMs < firstPollAtMs) {
    await condition(() => calledBack() || asked(), firstPollAtMs - nowMs);
  }
  if (!calledBack() && !asked()) {
    const polled = await poll(work, document, wait, () => calledBack() || asked(), slowAtMs);
    if (polled) return polled;
  }
  // What arrives while the answer is on its way may be newer than the answer.
  wait.callbacksSeen = run.callbacksReceived;
  const read = await readDocument(work, document.id, wait.betweenTries);
  if (askedToResubmit() && !isFinal(read)) return await retried(work, read, wait);
  if (Date.now() >= slowAtMs && !wait.slowTold && !isFinal(read)) raiseSlow(work, read, wait);
  return read;
}

/** With a callback to come, a poll would be a wasted call, until the document says that its delivery failed. */
function firstPollDelayMs(document: SaleDocument, wait: Wait, timings: SaleContext["profile"]["timings"]): number {
  // Null where the service took no notice of the URL: nothing will come.
  if (!wait.callbackExpected || document.callback === null) return timings.firstPollMs;
  return document.callback?.status === "failed" ? 0 : timings.firstPollWithCallbackMs;
}

/** The document's news; undefined where a message came first, or the wait has become a slow one. */
async function poll(
  work: SaleContext,
  document: SaleDocument,
  wait: Wait,
  interrupted: () => boolean,
  slowAtMs: number,
): Promise<SaleDocument | undefined> {
  const { calls, target, profile } = work;
  const scope = new CancellationScope();
  let result: ReadDocumentResult | undefined;
  let failure: unknown;
  const slowInMs = slowAtMs - Date.now();
  if (slowInMs <= 0 && !wait.slowTold) return undefined;
  const polling = scope
    .run(() =>
      calls.wait.awaitDocument({
        ...target,
        saleId: document.id,
        sinceMs: wait.sinceMs,
        firstPollMs: profile.timings.firstPollMs,
        knownStatus: document.status,
        record: work.run.records?.besideDocument(document.id),
      }),
    )
    .then(
      (answer) => (result = answer),
      (error: unknown) => (failure = error),
    );
  const ready = (): boolean => result !== undefined || failure !== undefined || interrupted();
  await (wait.slowTold ? condition(ready) : condition(ready, slowInMs));
  scope.cancel();
  await polling;
  if (failure !== undefined && !isCancellation(failure)) throw failure;
  if (result === undefined) return undefined;
  if (result.kind === "document") {
    if (result.recorded) work.run.records?.keptBeside({ document: result.document });
    return result.document;
  }
  await wait.betweenTries.waitAfterRefusal(result);
  return undefined;
}

/** A person does not believe that it is still under way: after a fresh look, the same document is submitted again. */
async function retried(work: SaleContext, document: SaleDocument, wait: Wait): Promise<SaleDocument> {
  work.run.clear(attentionKey("authority-slow", document.id));
  wait.sinceMs = Date.now();
  wait.slowTold = false;
  return await retryDocument(work, document);
}

function raiseSlow(work: SaleContext, document: SaleDocument, wait: Wait): void {
  wait.slowTold = true;
  const minutes = Math.round((Date.now() - wait.sinceMs) / 60_000);
  if (fateOf(document) === "unsigned") {
    const message = `The document is completed, but has had no receipt for ${minutes} minutes.`;
    work.run.raise({ code: "unexpected-answer", subject: document.id, message });
    return;
  }
  const message = `The document has been ${document.status} for ${minutes} minutes. It is still being looked at.`;
  work.run.raise({ code: "authority-slow", subject: document.id, message });
}

function raiseStrange(work: SaleContext, document: SaleDocument): void {
  const message = `The document's status is "${document.status}", which is none of the six. It is still being looked at.`;
  work.run.raise({ code: "unexpected-answer", subject: document.id, message, evidence: { status: document.status } });
}
