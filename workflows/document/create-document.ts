import { ApplicationFailure, condition } from "@temporalio/workflow";

import {
  type CallTarget,
  type Composed,
  type ComposedBody,
  type CreateRequest,
  type CreateResult,
  type DecideDocumentRequest,
  type Deferred,
  FAILURES,
  idempotencyKey as idempotencyKeyOf,
  type NumberWish,
  type RecordDocumentRequest,
  type Refusal,
  type SaleDocument,
} from "../../src/contract/index.ts";
import { callWithEscalation, isRefusal, BetweenTries } from "../calls/between-tries.ts";
import type { LostAnswer } from "../calls/activity-failures.ts";
import { CancelledByPerson, park } from "../operator/attention-list.ts";
import { ledger } from "../proxies.ts";
import type { SaleContext, SaleState } from "../sale/state.ts";
import { type ExpectedDocument, mismatches, mismatchMessage, readDocument } from "./known-document.ts";

interface Creation {
  /** What the key is made of beside the workflow's id. */
  step: string;
  /** What the ledger claims the document under, and what tells its content from another one's. */
  claim: string;
  content: string;
  numberFor?: NumberWish;
  expected: ExpectedDocument;
  compose: () => Promise<Composed>;
  send: (request: Omit<CreateRequest, keyof CallTarget>) => Promise<CreateResult | LostAnswer>;
  /**
   * Where the service knows a credit note of the sale already: ours to adopt, or somebody else's, with which this run
   * ends.
   * @throws whatever ends the run
   */
  alreadyCredited?: (result: Extract<CreateResult, { kind: "already-credited" }>) => Promise<SaleDocument>;
}

export interface Created {
  document: SaleDocument;
  callbackExpected: boolean;
}

/** One wish for a document: one key, and the same bytes each time that it is sent. */
interface IssueAttempt {
  number: number;
  body: ComposedBody | undefined;
  /** When something of it may have left without an answer that settled it; the key's life counts from there. */
  firstSentAtMs: number | undefined;
  rejectedWithoutTrace: number;
}

function newIntent(number: number): IssueAttempt {
  return { number, body: undefined, firstSentAtMs: undefined, rejectedWithoutTrace: 0 };
}

/**
 * Brings the document into being, exactly once. A new intent, with a new key, is made only by a person's `retry`, and
 * only after an answer that settled that nothing exists under the old key.
 * @throws CancelledByPerson while no document exists; ApplicationFailure Conflict where its number is another sale's
 */
export async function createDocument(work: SaleContext, creation: Creation): Promise<Created> {
  const { run } = work;
  const betweenTries = new BetweenTries(run);
  let intent = newIntent(1);
  for (;;) {
    const body: ComposedBody = (intent.body ??= await callWithEscalation(run, creation.compose));
    if (run.cancelDue) throw new CancelledByPerson(run.cancelRequested ?? "");
    run.numberTaken = true;
    run.documentInDoubt = true;
    const idempotencyKey = idempotencyKeyOf(run.workflowId, creation.step, intent.number);
    const { firstSentAtMs, number } = intent;
    const { claim, content, numberFor } = creation;
    const wish = { claim, intent: number, content, ...(numberFor && { numberFor }) };
    const sent = { ...wish, request: body.request, idempotencyKey };
    const result = unknownWhereLost(await creation.send({ ...sent, firstSentAtMs }));
    if (!isRefusal(result) && result.kind !== "deferred") betweenTries.clearRefusal();
    if (result.kind === "superseded") {
      intent = superseded(run, result);
      continue;
    }
    if (isRefusal(result) || result.kind === "deferred") {
      // Doubt sticks: a refusal says nothing of an earlier attempt whose answer was lost.
      intent.firstSentAtMs = result.firstSentAtMs ?? intent.firstSentAtMs;
      run.documentInDoubt = intent.firstSentAtMs !== undefined;
      if (isRefusal(result)) intent = await refused(betweenTries, result, intent);
      else await betweenTries.waitAfterDeferral(result, () => run.cancelDue);
      continue;
    }
    if (result.kind === "number-taken") throw numberTaken(run, result.message);
    const made = await settledBy(work, result, creation, number);
    if (made === "nothing") {
      intent.firstSentAtMs = undefined;
      run.documentInDoubt = false;
      if (result.kind === "rejected") intent = await rejectedWithoutTrace(work, result, intent);
      else if (result.kind === "already-credited") intent = await parkRejected(work, result.message, intent);
      continue;
    }
    run.documentInDoubt = false;
    if ("unclaimed" in result && result.unclaimed) run.beforeTheEnd(recordMade(run, { ...sent, documentId: made.id }));
    const callbackExpected = body.callbackExpected && result.kind !== "already-credited";
    return { document: made, callbackExpected };
  }
}

/** There is no document of this run, and nothing to be kept: under its number the ledger keeps the other sale's. */
function numberTaken(run: SaleState, message: string): ApplicationFailure {
  run.documentInDoubt = false;
  run.records = undefined;
  return ApplicationFailure.nonRetryable(message, FAILURES.conflict);
}

/**
 * An earlier run has settled, or a person has in its time, that nothing exists under an intent: the next one begins.
 */
function superseded(run: SaleState, { intent, decision }: Extract<CreateResult, { kind: "superseded" }>): IssueAttempt {
  run.documentInDoubt = false;
  if (decision && !run.decisions.some(({ atMs }) => atMs === decision.atMs)) {
    const { note, by, atMs } = decision;
    run.decide({ update: "resolveDocument", code: "document-unknown", answer: "not created", note, by }, atMs);
  }
  return newIntent(intent + 1);
}

/** The document that an answer shows or names; `nothing` where it settles that there is none. */
async function settledBy(
  work: SaleContext,
  result: Exclude<CreateResult, Refusal | Deferred | { kind: "superseded" | "number-taken" }>,
  creation: Creation,
  intent: number,
): Promise<SaleDocument | "nothing"> {
  switch (result.kind) {
    case "document":
      return await checkedOurs(work, result.document, creation.expected, result.replayed);
    case "named":
      return await checkedOurs(work, await readDocument(work, result.saleId), creation.expected, true);
    case "rejected": {
      const document = result.document ?? (result.saleId && (await readDocument(work, result.saleId)));
      return document ? await checkedOurs(work, document, creation.expected, true) : "nothing";
    }
    case "already-credited":
      return (await creation.alreadyCredited?.(result)) ?? "nothing";
    case "unknown":
      return (await parkUnknown(work, result, creation, intent)) ?? "nothing";
  }
}

async function refused(betweenTries: BetweenTries, refusal: Refusal, intent: IssueAttempt): Promise<IssueAttempt> {
  await betweenTries.waitAfterRefusal(refusal);
  // The service refused the body itself, so a mended one is another request, which must not meet the old one's key.
  // While an earlier attempt is in doubt, only the old one may be repeated.
  const another = refusal.attention === "invalid-request" && intent.firstSentAtMs === undefined;
  return another ? newIntent(intent.number + 1) : intent;
}

/** Once more under the same key, where that is safe; then a person decides, and what they ask for is a new intent. */
async function rejectedWithoutTrace(
  work: SaleContext,
  result: Extract<CreateResult, { kind: "rejected" }>,
  intent: IssueAttempt,
): Promise<IssueAttempt> {
  if (!result.repeatable || intent.rejectedWithoutTrace++ > 0) return await parkRejected(work, result.message, intent);
  await condition(() => work.run.cancelDue, work.profile.timings.firstPollMs);
  return intent;
}

async function parkRejected(work: SaleContext, message: string, intent: IssueAttempt): Promise<IssueAttempt> {
  const { run } = work;
  run.moveTo("rejected", "a person: the document was refused and left no trace");
  const verdict = await park(run, { code: "rejected", message });
  if (verdict === "cancel") throw new CancelledByPerson(run.cancelRequested ?? "");
  run.moveTo("submitting", "the answer to another try");
  return newIntent(intent.number + 1);
}

/**
 * A document that is not what was asked for: one that is not new may be somebody else's, so it waits for a person's
 * word.
 */
async function checkedOurs(
  work: SaleContext,
  document: SaleDocument,
  expected: ExpectedDocument,
  known: boolean,
): Promise<SaleDocument> {
  work.run.document = document;
  const found = mismatches(document, expected);
  if (found.length === 0) return document;
  const attention = {
    code: "mismatch" as const,
    message: mismatchMessage(expected, found),
    evidence: { documentId: document.id },
  };
  if (known) await park(work.run, attention);
  else work.run.raise(attention);
  return document;
}

/** The document, once a person has named it; undefined where a person says that it was not created. */
async function parkUnknown(
  work: SaleContext,
  { message, evidence }: Extract<CreateResult, { kind: "unknown" }>,
  { claim, expected }: Creation,
  intent: number,
): Promise<SaleDocument | undefined> {
  const { run, calls, target } = work;
  const decided = { claim, intent };
  let objection = "";
  for (;;) {
    run.documentDecision = undefined;
    await park(run, { code: "document-unknown", message: `${objection}${message}`, evidence });
    // Assigned by the update that ended the park.
    const decision = run.documentDecision as SaleState["documentDecision"];
    if (decision === undefined || decision === "not-created") {
      await keepDecision(run, { ...decided, decision: "not-created" });
      return undefined;
    }
    const { saleId } = decision;
    // Read once, and not until it answers: a mistyped id must lead back to the question.
    const read = await calls.read.readDocument({ ...target, saleId });
    const found = isRefusal(read) ? [read.message] : mismatches(read.document, expected);
    if (!isRefusal(read) && found.length === 0) {
      await keepDecision(run, { ...decided, decision });
      return read.document;
    }
    objection = `The document ${saleId} is not this one: ${found.join("; ")}. `;
  }
}

/** Written down before anything follows from it, so that a run which begins anew does not ask again. */
async function keepDecision(run: SaleState, decided: Omit<DecideDocumentRequest, "word">): Promise<void> {
  const said = run.decisions.findLast(({ update }) => update === "resolveDocument");
  const { note = "", by, atMs = 0 } = said ?? {};
  await ledger.decideDocument({ ...decided, word: { note, atMs, ...(by !== undefined && { by }) } });
}

/**
 * Keeps the id of a document that was made while the ledger was away. Where a credit note of another sale came to bear
 * its number meanwhile, both exist: only a person can put that right.
 */
async function recordMade(run: SaleState, request: RecordDocumentRequest): Promise<void> {
  const recorded = await ledger.recordDocument(request);
  if (recorded?.numberTaken === undefined) return;
  const message = `${recorded.numberTaken} Both were issued while the ledger was away, which keeps one of them. Where both were to give goods back, only one did: count the stock.`;
  const evidence = { documentId: request.documentId };
  await park(run, { code: "mismatch", subject: "traderInvoiceNumber", message, evidence });
}

/** Without an answer nobody knows whether the document was made. */
function unknownWhereLost(result: CreateResult | LostAnswer): CreateResult {
  if (result.kind !== "lost") return result;
  return { kind: "unknown", message: result.message, evidence: { activityId: result.activityId } };
}
