/**
 * What a sale and a credit note have in common as documents: created exactly once, followed until the authority has
 * settled them, resubmitted where it rejects them. What is asked for, and what follows from the end, is in
 * `workflows/sale/`.
 *
 * Stands on: `src/contract`, `workflows`, `workflows/calls`, `workflows/operator`, `workflows/sale` (types),
 * `workflows/sdk`.
 */
import { ApplicationFailure, CancellationScope, condition } from "@temporalio/workflow";

import {
  type CallTarget,
  type Composed,
  type ComposedBody,
  type CreateRequest,
  type CreateResult,
  type DecideDocumentRequest,
  type Deferred,
  type ExpectedDocument,
  FAILURES,
  idempotencyKey as idempotencyKeyOf,
  IN_FLIGHT_STATUSES,
  mismatchMessage,
  type OperatorDecision,
  type ReadDocumentRequest,
  type Refusal,
  type SaleDocument,
  type SettledAnswer,
} from "../../src/contract/index.ts";
import { BetweenTries, callOrGiveUp, callWithEscalation, isRefusal } from "../calls/between-tries.ts";
import { CancelledByOperator, park } from "../operator/attention-list.ts";
import { ledger, type LostAnswer } from "../proxies.ts";
import type { SaleContext, SaleState } from "../sale/state.ts";

interface Creation {
  /** The Idempotency-Key is made from the workflow's id, this, and the intent's number. */
  step: string;
  content: string;
  expected: ExpectedDocument;
  /** Of the first intent. Another one is composed anew: configuration may have been corrected meanwhile. */
  composed?: ComposedBody;
  compose: () => Promise<Composed>;
  send: (request: Omit<CreateRequest, keyof CallTarget>) => Promise<CreateResult | LostAnswer>;
  /**
   * If the sale has a credit note already: gives that one, if it is ours.
   * @throws whatever ends the run, if it is somebody else's
   */
  alreadyCredited?: (result: Extract<CreateResult, { kind: "already-credited" }>) => Promise<SaleDocument>;
}

export interface Created {
  document: SaleDocument;
  callbackExpected: boolean;
}

/** What is to be issued under one Idempotency-Key: the same bytes, however often they are sent. */
interface DocumentIntent {
  number: number;
  body: ComposedBody | undefined;
  rejectedWithoutTrace: number;
  /** When it was first asked for. */
  sinceMs: number | undefined;
  /** An activity ended without an answer: the next one has read the claim. */
  isLost: boolean;
}

function newIntent(number: number): DocumentIntent {
  return { number, body: undefined, rejectedWithoutTrace: 0, sinceMs: undefined, isLost: false };
}

/**
 * Brings the document into being, exactly once. The next intent, with a new key, begins only after an answer that ruled
 * out a document under the old key, and only if an operator asks for it by `retry`.
 * @throws CancelledByOperator while no document exists; ApplicationFailure Conflict if its number is another sale's
 */
export async function createDocument(context: SaleContext, creation: Creation): Promise<Created> {
  const betweenTries = new BetweenTries(context.run);
  try {
    return await created(context, creation, betweenTries);
  } finally {
    // One that is given up while a try is put off has no other end.
    betweenTries.clearRefusal();
  }
}

async function created(context: SaleContext, creation: Creation, betweenTries: BetweenTries): Promise<Created> {
  const { run } = context;
  let intent: DocumentIntent = { ...newIntent(1), body: creation.composed };
  for (;;) {
    const body: ComposedBody = (intent.body ??= await callWithEscalation(run, creation.compose));
    if (run.cancelDue) throw new CancelledByOperator();
    run.numberTaken = true;
    const wasInDoubt = run.documentInDoubt;
    run.documentInDoubt = true;
    const { number } = intent;
    const idempotencyKey = idempotencyKeyOf(run.workflowId, creation.step, number);
    const { content, expected } = creation;
    const { request } = body;
    const sinceMs = (intent.sinceMs ??= Date.now());
    const call = { intent: number, content, of: run.row, expected, request, idempotencyKey, sinceMs };
    const asked = { ...call, ...unsentCreations(run) };
    const answer = await creation.send(asked);
    if (answer.kind === "lost" && !intent.isLost) {
      // The claim decides, and the activity reads it before it sends: a document that it knows is taken over, and what
      // may have left is repeated under a trusted key alone.
      intent.isLost = true;
      continue;
    }
    const result = unknownWhereLost(answer);
    if (!isRefusal(result) && result.kind !== "deferred") betweenTries.clearRefusal();
    if (result.kind === "superseded") {
      // The claim says that nothing exists under this intent.
      run.documentInDoubt = false;
      takeOverDecision(run, result);
      intent = newIntent(result.intent + 1);
      continue;
    }
    if (result.kind === "deferred") {
      run.documentInDoubt = result.inDoubt ?? wasInDoubt;
      if (result.unsent) run.unsentCreations.push(result.unsent);
      await betweenTries.waitAfterDeferral(result, () => run.cancelDue);
      continue;
    }
    if (isRefusal(result)) {
      run.documentInDoubt = result.inDoubt ?? wasInDoubt;
      // Before it was sent, the claim has shown what an earlier run did.
      run.earlierRunSent &&= run.documentInDoubt;
      await betweenTries.waitAfterRefusal(result);
      // The service refused the body itself. A corrected body is another request and needs another key. While an earlier
      // attempt is in doubt, only the old request may be repeated.
      if (result.attention === "invalid-request" && result.inDoubt !== true) intent = newIntent(number + 1);
      continue;
    }
    if (result.kind === "number-taken") {
      run.documentInDoubt = false;
      // This run has no document, and tells nothing of one: the ledger's row under this number is the other sale's.
      if (!result.isOwn) run.notes = undefined;
      throw ApplicationFailure.nonRetryable(result.message, FAILURES.conflict);
    }
    const documentId = idOf(result);
    if (documentId !== undefined && "unsettled" in result && result.unsettled) {
      const settled = { ...context.target, of: run.row, intent: number, documentId };
      run.beforeTheEnd(ledger.settleDocument("Write the document's id into its claim", settled));
    }
    if ((result.kind === "document" || result.kind === "rejected") && documentId !== undefined)
      answered(context, documentId, result);
    const document = await documentFrom(context, result, creation, number);
    run.earlierRunSent = false;
    run.documentInDoubt = false;
    if (document) return { document, callbackExpected: body.callbackExpected && result.kind !== "already-credited" };
    if (result.kind === "rejected") intent = await rejectedWithoutTrace(context, result, intent);
    else if (result.kind === "already-credited") intent = await parkRejected(context, result.message, intent);
  }
}

/** What the next activity is told of those before it. */
export function unsentCreations({ unsentCreations: unsent }: SaleState): Pick<CreateRequest, "unsent"> {
  return unsent.length > 0 ? { unsent } : {};
}

function idOf(result: CreateResult): string | undefined {
  if (result.kind === "document") return result.document.id;
  if (result.kind === "named") return result.saleId;
  return result.kind === "rejected" ? (result.document?.id ?? result.saleId) : undefined;
}

function takeOverDecision(run: SaleState, { decision }: Extract<CreateResult, { kind: "superseded" }>): void {
  if (!decision || run.decisions.some(({ atMs }) => atMs === decision.atMs)) return;
  const { note, by, atMs } = decision;
  run.decide({ update: "resolveDocument", code: "document-unknown", answer: "not created", note, by }, atMs);
}

/** Undefined if the answer rules out that there is one. */
async function documentFrom(
  context: SaleContext,
  result: Exclude<CreateResult, Refusal | Deferred | { kind: "superseded" | "number-taken" }>,
  creation: Creation,
  intent: number,
): Promise<SaleDocument | undefined> {
  const { expected } = creation;
  const ours = (compared: Compared, known = true) => checkIsOurs(context, compared, expected, known);
  switch (result.kind) {
    case "document":
      return await ours(result, result.replayed);
    case "named":
    case "rejected":
      if ("document" in result && result.document) return await ours({ ...result, document: result.document });
      if (result.saleId === undefined) return undefined;
      return await ours(await compareDocument(context, result.saleId, { expected }));
    case "already-credited":
      return await creation.alreadyCredited?.(result);
    case "unknown":
      return await parkUnknown(context, result, creation, intent);
  }
}

/** Tries once more under the same key, if that is safe. Then an operator decides, and a `retry` is a new intent. */
async function rejectedWithoutTrace(
  context: SaleContext,
  result: Extract<CreateResult, { kind: "rejected" }>,
  intent: DocumentIntent,
): Promise<DocumentIntent> {
  if (!result.repeatable || intent.rejectedWithoutTrace++ > 0)
    return await parkRejected(context, result.message, intent);
  await condition(() => context.run.cancelDue, context.profile.timings.firstPollMs, {
    summary: "The document was refused without a trace: try once more after a pause",
  });
  return intent;
}

async function parkRejected(context: SaleContext, message: string, intent: DocumentIntent): Promise<DocumentIntent> {
  const { run } = context;
  run.moveTo("rejected", "an operator: the document was refused and left no trace");
  await park(run, { code: "rejected", message });
  run.moveTo("submitting", "the answer to another try");
  return newIntent(intent.number + 1);
}

/**
 * One that existed before the answer (`known`) and is not what was asked for may be somebody else's: then the run
 * parks.
 */
async function checkIsOurs(
  context: SaleContext,
  { document, differences }: Compared,
  expected: ExpectedDocument,
  known: boolean,
): Promise<SaleDocument> {
  context.run.document = document;
  if (!differences) return document;
  const message = mismatchMessage(expected, differences);
  const attention = { code: "mismatch", message, evidence: { documentId: document.id } } as const;
  if (!known) {
    context.run.raise(attention);
    return document;
  }
  await park(context.run, attention);
  // It may have become something else by the time that an operator has compared it.
  return await readDocument(context, document.id);
}

/** Undefined if an operator says that it was not created. */
async function parkUnknown(
  context: SaleContext,
  { message, evidence }: Extract<CreateResult, { kind: "unknown" }>,
  { expected }: Creation,
  intent: number,
): Promise<SaleDocument | undefined> {
  const { run, calls, target } = context;
  const claimed = { ...target, of: run.row, intent };
  // Maybe by an earlier run.
  const { firstSentAt } = evidence;
  const sinceMs = typeof firstSentAt === "string" ? Date.parse(firstSentAt) : Date.now();
  let objection = "";
  for (;;) {
    run.documentDecision = undefined;
    await park(run, { code: "document-unknown", message: `${objection}${message}`, evidence, sinceMs });
    // Assigned by the update that ended the park.
    const decision = run.documentDecision as SaleState["documentDecision"];
    if (decision === undefined || decision === "not-created") {
      await recordDocumentDecision(run, { ...claimed, decision: "not-created" });
      return undefined;
    }
    const { saleId } = decision;
    // One call, not tried again after a refusal: a mistyped id must lead back to the question.
    const asked = { ...target, saleId, of: run.row, expected, mayBeAnothers: true } as const;
    const read = await calls.read.readDocument(`Read the document ${saleId} that the operator named`, asked);
    if (!isRefusal(read) && !read.differences) {
      answered(context, read.document.id, read);
      await recordDocumentDecision(run, { ...claimed, decision });
      return read.document;
    }
    const why = isRefusal(read) ? read.message : read.differences?.join("; ");
    objection = `The document ${saleId} is not this one: ${why}. `;
  }
}

/** Before acting on it, so that a later run does not ask again. */
async function recordDocumentDecision(
  run: SaleState,
  request: Omit<DecideDocumentRequest, keyof OperatorDecision>,
): Promise<void> {
  const { note = "", by, atMs = 0 } = run.decisions.findLast(({ update }) => update === "resolveDocument") ?? {};
  const decided = { ...request, note, by, atMs };
  await ledger.decideDocument("Write the operator's decision into the claim", decided);
}

function unknownWhereLost(result: CreateResult | LostAnswer): CreateResult {
  if (result.kind !== "lost") return result;
  return { kind: "unknown", message: result.message, evidence: { activityId: result.activityId } };
}

/** `unknown-status`: none that the API documents (Fiscal Compliance API, "Sale and credit note status"). */
type DocumentState = "signed" | "unsigned" | "in-flight" | "failed" | "cancelled" | "unknown-status";

/** A document, and where it is not what was asked for. */
export interface Compared extends Pick<SettledAnswer, "differences"> {
  document: SaleDocument;
}

export function documentState(document: SaleDocument): DocumentState {
  switch (document.status) {
    case "completed":
      return document.receipt ? "signed" : "unsigned";
    case "failed":
      return "failed";
    case "cancelled":
      return "cancelled";
    default:
      return IN_FLIGHT_STATUSES.includes(document.status) ? "in-flight" : "unknown-status";
  }
}

/** Reads the run's own document, and tries until there is an answer. */
export async function compareDocument(
  context: SaleContext,
  saleId: string,
  comparison: Pick<ReadDocumentRequest, "expected" | "mayBeAnothers">,
  betweenTries?: BetweenTries,
): Promise<Compared> {
  const { calls, run, target } = context;
  const asked = { ...target, saleId, of: run.row, ...comparison };
  const call = () => calls.read.readDocument(`Read the document ${saleId}`, asked);
  const read = await callWithEscalation(run, call, betweenTries);
  answered(context, read.document.id, read);
  return read;
}

export async function readDocument(
  context: SaleContext,
  saleId: string,
  betweenTries?: BetweenTries,
): Promise<SaleDocument> {
  return (await compareDocument(context, saleId, {}, betweenTries)).document;
}

export function answered(
  context: SaleContext,
  saleId: string,
  { unsettled, givenBack, otherRun, totalDiffers }: SettledAnswer,
): void {
  const { run } = context;
  run.totalDiffers = totalDiffers;
  if (otherRun) run.notes?.noteAnew();
  if (unsettled) keepLater(context, saleId);
  if (givenBack) run.goodsGivenBack();
}

/** Once for all answers that come while the ledger is away. The wait that has the answer may be cancelled: this is not. */
function keepLater({ run, calls, target }: SaleContext, saleId: string): void {
  const isKeeping = run.answersToKeep.has(saleId);
  run.answersToKeep.set(saleId, "new");
  if (isKeeping) return;
  const keeping = async (): Promise<void> => {
    while (run.answersToKeep.get(saleId) === "new") {
      await ledger.awaitLedger("Wait for the ledger: each attempt is one look");
      run.answersToKeep.set(saleId, "asked");
      // It is read once more, for its row.
      const kept = await callOrGiveUp(
        run,
        () =>
          calls.background.read.keepDocument("Read the document for the ledger", { ...target, saleId, of: run.row }),
        ({ message }) => ({
          code: "unexpected-answer",
          subject: `ledger ${saleId}`,
          message: `The ledger does not have the last answer about the document ${saleId}: ${message}`,
        }),
      );
      if (kept?.givenBack) run.goodsGivenBack();
    }
    run.answersToKeep.delete(saleId);
  };
  run.beforeTheEnd(CancellationScope.nonCancellable(keeping));
}
