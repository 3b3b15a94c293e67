import { condition, sleep } from "@temporalio/workflow";

import type { ConnectionProfile, SaleDocument } from "../../src/contract/index.ts";
import { BetweenTries } from "../calls/between-tries.ts";
import { attentionKey, CancelledByOperator, Running } from "../operator/attention-list.ts";
import { ledger } from "../proxies.ts";
import type { SaleContext, SaleState } from "../sale/state.ts";
import { answered, documentState, readDocument, unsentCreations } from "./create-document.ts";
import { resubmitRejected, retryDocument } from "./rejected-document.ts";

type Timings = ConnectionProfile["timings"];

export type FinalStatus = "completed" | "cancelled-by-service";

interface AwaitedDocument {
  callbackExpected: boolean;
  /** How many callbacks had come before the document was asked for, or when it was read last. */
  callbacksSeen: number;
  /** Whether it corrected anything new. */
  fixItems: () => Promise<boolean>;
}

interface Wait extends AwaitedDocument {
  sinceMs: number;
  /** The attention that this takes long is raised once: it does not come back after an acknowledgement. */
  slowRaised: boolean;
  /** The statuses that were shown since none of them is documented: each once, however often it is gone and back. */
  strangeShown: Set<string>;
  /** Automatic resubmissions so far, over the document's whole life. */
  resubmissions: number;
  betweenTries: BetweenTries;
  /** When it was read last; a submission is no reading. */
  readAtMs: number | undefined;
  /** How often a callback has had it read, and from when on the next one may. */
  callbackReads: number;
  nextCallbackReadAtMs: number;
}

/** So many callbacks of one document are followed at once. Each read that one causes costs a dozen events. */
const CALLBACKS_AT_ONCE = 4;

/**
 * Sees an issued document through to its end. `run.document` is always the latest of it.
 * @throws CancelledByOperator if a fresh reading still shows the document as rejected
 */
export async function awaitFinalStatus(
  context: SaleContext,
  issued: SaleDocument,
  awaited: AwaitedDocument,
): Promise<FinalStatus> {
  const { run } = context;
  const betweenTries = new BetweenTries(run);
  const wait: Wait = {
    ...awaited,
    sinceMs: Date.now(),
    slowRaised: false,
    strangeShown: new Set(),
    resubmissions: 0,
    betweenTries,
    readAtMs: undefined,
    callbackReads: 0,
    nextCallbackReadAtMs: 0,
  };
  let document = issued;
  for (;;) {
    run.document = document;
    switch (documentState(document)) {
      case "signed":
        return "completed";
      case "cancelled":
        return "cancelled-by-service";
      case "failed":
        document = await resubmitRejected(context, document, wait);
        beginAnew(wait);
        break;
      case "in-flight":
      case "unknown-status":
      case "unsigned":
        run.moveTo(run.inFlightStage, `the authority: ${wait.callbackExpected ? "a callback, or " : ""}the next look`);
        document = await awaitAuthority(context, document, wait);
    }
  }
}

function beginAnew(wait: Wait): void {
  wait.sinceMs = Date.now();
  wait.readAtMs = undefined;
  wait.slowRaised = false;
}

/**
 * Until the document is signed, failed or cancelled. A callback changes only when it is read: its content is not
 * trusted.
 */
async function awaitAuthority(context: SaleContext, document: SaleDocument, wait: Wait): Promise<SaleDocument> {
  const { run } = context;
  let current = document;
  while (!isAnswered(current)) {
    run.document = current;
    const pause = new Running(() => untilCallbackIsDue(run, wait));
    try {
      current = await nextReading(context, current, wait);
    } finally {
      await pause.end();
    }
  }
  for (const code of ["authority-slow", "unexpected-answer"] as const) run.clear(attentionKey(code, current.id));
  wait.strangeShown.clear();
  return current;
}

function isCallbackDue(run: SaleState, wait: Wait): boolean {
  return run.callbacksReceived > wait.callbacksSeen && Date.now() >= wait.nextCallbackReadAtMs;
}

/** A callback that comes too soon is followed later: the timer makes the run look at the time again. */
async function untilCallbackIsDue(run: SaleState, wait: Wait): Promise<void> {
  await condition(() => run.callbacksReceived > wait.callbacksSeen && Date.now() < wait.nextCallbackReadAtMs);
  const summary = "Callbacks come often: the next one is followed after a pause";
  await sleep(wait.nextCallbackReadAtMs - Date.now(), { summary });
}

/** The first few callbacks cause a read at once, the others after pauses that double: the history stays short. */
function followCallback(run: SaleState, wait: Wait, { firstPollMs }: Pick<Timings, "firstPollMs">): void {
  if (run.callbacksReceived === wait.callbacksSeen) return;
  // Counted before the call: a callback that arrives during it may report something newer than its answer.
  wait.callbacksSeen = run.callbacksReceived;
  wait.callbackReads++;
  const beyond = wait.callbackReads - CALLBACKS_AT_ONCE;
  if (beyond >= 0) wait.nextCallbackReadAtMs = Date.now() + firstPollMs * 2 ** Math.min(beyond, MOST_DOUBLINGS);
}

/** Years: no number overflows. */
const MOST_DOUBLINGS = 24;

function isAnswered(document: SaleDocument): boolean {
  const state = documentState(document);
  return state === "signed" || state === "failed" || state === "cancelled";
}

async function nextReading(context: SaleContext, document: SaleDocument, wait: Wait): Promise<SaleDocument> {
  const { run, profile } = context;
  const { timings } = profile;
  const nowMs = Date.now();
  const slowKey = attentionKey("authority-slow", document.id);
  const unknownStatusKey = attentionKey("unexpected-answer", document.id);
  const [slowBefore, unknownBefore] = [run.retriesOf(slowKey), run.retriesOf(unknownStatusKey)];
  const resubmissionRequested = (): boolean => run.retriesOf(slowKey) > slowBefore;
  const retryRequested = (): boolean => resubmissionRequested() || run.retriesOf(unknownStatusKey) > unknownBefore;
  const interrupted = (): boolean => isCallbackDue(run, wait) || retryRequested();
  const firstPollAtMs = wait.sinceMs + firstPollDelayMs(document, wait, timings);
  const slowAtMs = wait.sinceMs + timings.slowAfterMs;
  if (documentState(document) === "unknown-status") showStrange(context, document, wait);

  if (!isCallbackDue(run, wait) && nowMs < firstPollAtMs) {
    await condition(interrupted, firstPollAtMs - nowMs, {
      summary: wait.callbackExpected ? "Wait for the callback before looking" : "Wait before the first look",
    });
  }
  if (!interrupted()) {
    const polled = await poll(context, document, wait, interrupted, slowAtMs);
    if (polled) {
      wait.readAtMs = Date.now();
      return polled;
    }
  }
  followCallback(run, wait, timings);
  const read = await readDocument(context, document.id, wait.betweenTries);
  wait.readAtMs = Date.now();
  // Only a person's look ends what is shown: a status that flaps would show it, and end it, with every other look.
  if (run.retriesOf(unknownStatusKey) > unknownBefore && documentState(read) === "in-flight") {
    run.clear(unknownStatusKey);
    wait.strangeShown.clear();
  }
  if (resubmissionRequested() && !isAnswered(read)) return await resubmitOnRequest(context, read, wait);
  if (Date.now() >= slowAtMs && !wait.slowRaised && !isAnswered(read)) raiseSlow(context, read, wait);
  return read;
}

/** While a callback is expected, polls wait longer, unless the document says that the callback's delivery failed. */
function firstPollDelayMs(document: SaleDocument, wait: Wait, timings: Timings): number {
  // Null: the service ignored the callback URL.
  if (!wait.callbackExpected || document.callback === null) return timings.firstPollMs;
  return document.callback?.status === "failed" ? 0 : timings.firstPollWithCallbackMs;
}

/** Polls until there is news. Undefined if a message came first, or the wait has become a slow one. */
async function poll(
  context: SaleContext,
  document: SaleDocument,
  wait: Wait,
  interrupted: () => boolean,
  slowAtMs: number,
): Promise<SaleDocument | undefined> {
  const { calls, target, profile } = context;
  const slowInMs = slowAtMs - Date.now();
  if (slowInMs <= 0 && !wait.slowRaised) return undefined;
  const polling = new Running(() =>
    calls.wait.awaitDocument("Wait for the tax authority: each attempt is one look", {
      ...target,
      saleId: document.id,
      sinceMs: wait.sinceMs,
      firstPollMs: profile.timings.firstPollMs,
      readAtMs: wait.readAtMs,
      knownStatus: [...wait.strangeShown].at(-1) ?? document.status,
      of: context.run.row,
    }),
  );
  const ready = (): boolean => polling.done || interrupted();
  const summary = "If nothing has come by then, the authority is slow";
  await (wait.slowRaised ? condition(ready) : condition(ready, slowInMs, { summary }));
  await polling.end();
  const result = polling.resultOrThrow();
  if (result === undefined) return undefined;
  if (result.kind === "document") {
    answered(context, result.document.id, result);
    return result.document;
  }
  await wait.betweenTries.waitAfterRefusal(result);
  return undefined;
}

/** On an operator's `retry`, after a fresh reading, which may show that nothing is to be submitted. */
async function resubmitOnRequest(context: SaleContext, document: SaleDocument, wait: Wait): Promise<SaleDocument> {
  context.run.clear(attentionKey("authority-slow", document.id));
  beginAnew(wait);
  // The authority has accepted it (Fiscal Compliance API, "Sale and credit note status"): only its receipt is missing.
  if (documentState(document) === "unsigned") return document;
  return await retryDocument(context, document);
}

function raiseSlow(context: SaleContext, document: SaleDocument, wait: Wait): void {
  wait.slowRaised = true;
  const minutes = Math.round((Date.now() - wait.sinceMs) / 60_000);
  if (documentState(document) === "unsigned") {
    const message = `The document is completed, but has had no receipt for ${minutes} minutes.`;
    context.run.raise({ code: "unexpected-answer", subject: document.id, message });
    return;
  }
  const message = `The document has been ${document.status} for ${minutes} minutes. It is still being looked at.`;
  context.run.raise({ code: "authority-slow", subject: document.id, message });
}

function showStrange({ run }: SaleContext, { id, status }: SaleDocument, { strangeShown }: Wait): void {
  // Beside another one that nobody has answered yet it could not be seen: it is shown later, if it is still there.
  if (strangeShown.has(status) || run.needs(attentionKey("unexpected-answer", id))) return;
  strangeShown.add(status);
  const message = `The document's status is "${status}", which is none of the six. It is still being looked at.`;
  run.raise({ code: "unexpected-answer", subject: id, message, evidence: { status } });
}

/**
 * A reset replays what the first activity of the run before has answered: a run that knows of no document looks into
 * its claim before it ends as cancelled, and goes on if an earlier one has sent something. If not, that closes the claim
 * to whatever was asked for before, and wakes only now.
 * @returns undefined if the document is given up
 */
export async function unlessGivenUp<End>(
  { run, target }: SaleContext,
  act: () => Promise<End>,
): Promise<End | undefined> {
  for (;;) {
    try {
      return await act();
    } catch (error) {
      if (!(error instanceof CancelledByOperator)) throw error;
    }
    if (run.document) return undefined;
    const asked = { ...target, of: run.row, ...unsentCreations(run) };
    if (!(await ledger.isDocumentSent("Look whether an earlier run has sent it", asked))) return undefined;
    run.earlierRunSent = true;
  }
}
