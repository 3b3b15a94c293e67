import { Context } from "@temporalio/activity";

import { ignoredFields } from "../../src/compliance/index.ts";
import {
  type ComplianceActivities,
  type ComposedRequest,
  type CreateRequest,
  type CreateResult,
  type CreateSaleRequest,
  type SaleDocument,
  withLinesThatFit,
} from "../../src/contract/index.ts";
import type { Deadline } from "../../src/http/deadline.ts";
import { LedgerUnavailableError } from "../../src/ledger/index.ts";
import { claimOrDeferred, EarlierRunsUnreadError } from "../earlier-runs/earlier-runs.ts";
import { afterQuotaMs } from "../failure.ts";
import { documentClaim, keyForgotten, keySentWith, neverRepeated } from "../ledger/beside-calls.ts";
import {
  type ClassifiedCall,
  lastMomentToSend,
  notServedMessage,
  refusalOf,
  sentence,
  throwIfRetryable,
} from "../classified-call.ts";
import {
  type ActivityContext,
  callAndClassify,
  type ComplianceRuntime,
  rejectedSale,
  rejectedSaleThatFits,
  runtimeOf,
} from "./calls.ts";

interface ToSend {
  request: ComposedRequest;
  sendBefore: Deadline;
}

/** The two requests that bring a document into being, each under its Idempotency-Key. */
export function createCreationActivities(context: ActivityContext) {
  const { random, nowMs, ledger, observer } = context;

  async function sendSale(
    runtime: ComplianceRuntime,
    request: CreateSaleRequest,
    { request: first, sendBefore }: ToSend,
    rules: Pick<CreateSaleRequest, "saleKey">,
  ): Promise<ClassifiedCall<SaleDocument>> {
    const call = () => runtime.client.createSale(first, { idempotencyKey: keySentWith(request), sendBefore });
    const classified = await callAndClassify(runtime, "createSale", request, call, undefined, rules);
    const created = classified.data ?? rejectedSale(classified);
    if (created) noteIgnored(runtime, first, created, observer);
    return classified;
  }

  function sendCreditNote(
    runtime: ComplianceRuntime,
    request: CreateRequest,
    { request: first, sendBefore }: ToSend,
  ): Promise<ClassifiedCall<SaleDocument>> {
    const { idempotencyKey } = request;
    const call = () => runtime.client.createCreditNote(first, { idempotencyKey, sendBefore });
    return callAndClassify(runtime, "createCreditNote", request, call);
  }

  /**
   * Creates a document under a trusted key. Temporal retries this activity for as long as the service remembers the
   * key; that time begins with the first attempt that may have been sent.
   */
  async function createKeyed(
    request: CreateRequest,
    send: (runtime: ComplianceRuntime, first: ToSend) => Promise<ClassifiedCall<SaleDocument>>,
  ): Promise<CreateResult> {
    const runtime = runtimeOf(context, request.connection);
    const { keyLifeMs, callTimeoutMs } = runtime.profile.timings;
    const sendBefore = lastMomentToSend(callTimeoutMs);
    const sentByEarlierAttempt = firstSentBefore(request);
    const repeatableForMs = Math.max(0, keyLifeMs - callTimeoutMs);
    const by = { now: nowMs, firstSentAtMs: sentByEarlierAttempt, sendBefore, callTimeoutMs, repeatableForMs };
    const claim = documentClaim(ledger, request, by);
    // The key makes a repetition safe, but not for longer than the service remembers it: an earlier run may have sent
    // it before that.
    const isFollowing = (await mayHaveRunBefore()) || request.carriesOn === true;
    const begun = isFollowing ? await claimOrDeferred(claim.begin) : await claim.beginOrGoOn();
    if (begun.kind === "deferred") return { claim: "unread", ...begun, firstSentAtMs: sentByEarlierAttempt };
    if (begun.kind === "number-taken" && sentByEarlierAttempt !== undefined) {
      const firstSentAt = new Date(sentByEarlierAttempt).toISOString();
      const message = `It was sent at ${firstSentAt} while the ledger was away, and its answer was lost. ${begun.message}`;
      return { kind: "unknown", message, evidence: { firstSentAt } };
    }
    if (begun.kind !== "send") return begun;
    const earliestSent = earliest(sentByEarlierAttempt, begun.firstSentAtMs);
    const sentAtMs = nowMs();
    if (earliestSent !== undefined && sentAtMs > earliestSent + repeatableForMs) return keyForgotten(earliestSent);
    try {
      const classified = await send(runtime, { request: begun.request, sendBefore });
      const { kind } = classified.meaning;
      const doubtful = kind === "unknown-keyed" || kind === "unexpected";
      const firstSentAtMs = earliestSent ?? (doubtful ? sentAtMs : undefined);
      if (kind === "deferred" || kind === "not-applied" || kind === "unknown-keyed")
        rememberForNextAttempt(firstSentAtMs);
      const result = createResult(classified, random, firstSentAtMs);
      const kept = await settle(claim, result, firstSentAtMs === undefined && result.kind !== "unknown");
      throwIfRetryable(classified, random);
      return kept;
    } finally {
      await claim.ended();
    }
  }

  /**
   * Creates a sale without a trusted key, in one attempt. Whatever is known is a result, since a failed activity reads
   * as a lost answer. Without the claim nothing is sent.
   */
  async function createUnkeyed(request: CreateSaleRequest): Promise<CreateResult> {
    // Of an attempt under a key that was trusted then: being put off must not make the run forget it.
    const sentByEarlierAttempt = firstSentBefore(request);
    const runtime = context.connections.get(request.connection);
    if (!runtime)
      return {
        kind: "deferred",
        message: notServedMessage(context.connections, request.connection),
        firstSentAtMs: sentByEarlierAttempt,
        claim: "unread",
      };
    const { callTimeoutMs } = runtime.profile.timings;
    const sendBefore = lastMomentToSend(callTimeoutMs);
    const by = { now: nowMs, firstSentAtMs: sentByEarlierAttempt, sendBefore, callTimeoutMs, repeatableForMs: 0 };
    const claim = documentClaim(ledger, request, by);
    const begun = await claimOrDeferred(async () => {
      await context.earlierRuns.takeOver(Context.current().info.workflowExecution);
      return await claim.begin();
    });
    if (begun.kind === "deferred") return { claim: "unread", ...begun, firstSentAtMs: sentByEarlierAttempt };
    if (begun.kind !== "send") return begun;
    const earliestSent = earliest(sentByEarlierAttempt, begun.firstSentAtMs);
    if (earliestSent !== undefined) return neverRepeated(earliestSent);
    try {
      const first = { request: begun.request, sendBefore };
      const classified = await sendSale(runtime, request, first, { saleKey: "sent" });
      const result = createResult(classified, random, undefined);
      const doubtful = classified.meaning.kind === "unexpected" || result.kind === "unknown";
      return await settle(claim, result, !doubtful);
    } finally {
      await claim.ended();
    }
  }

  /** Brings into the ledger what earlier runs of this workflow id did. False where Temporal lists none. */
  async function mayHaveRunBefore(): Promise<boolean> {
    try {
      return await context.earlierRuns.takeOver(Context.current().info.workflowExecution);
    } catch (error) {
      if (!(error instanceof LedgerUnavailableError) && !(error instanceof EarlierRunsUnreadError)) throw error;
      return true;
    }
  }

  return {
    createSale(request) {
      // The workflow decided when it began, and has the activity tried once where the key was not trusted: what this
      // worker's configuration says now can only make the sale more careful. A worker without the connection must not
      // fail the one that is tried once.
      const isTrusted = context.connections.get(request.connection)?.profile.saleKey === "trusted";
      if (request.saleKey !== "trusted" || !isTrusted) return createUnkeyed(request);
      return createKeyed(request, (runtime, first) => sendSale(runtime, request, first, { saleKey: "trusted" }));
    },
    createCreditNote: (request) => createKeyed(request, (runtime, first) => sendCreditNote(runtime, request, first)),
  } satisfies Partial<ComplianceActivities>;
}

/**
 * Notes the fields of the request that the service ignored. The document counts all the same: the workflow compares
 * what it must have.
 */
function noteIgnored(
  { dialect, profile }: ComplianceRuntime,
  { bodyJson }: ComposedRequest,
  document: SaleDocument,
  observer: ActivityContext["observer"],
): void {
  for (const { setting, sentAs } of ignoredFields(dialect, bodyJson, document)) {
    const message = `A sale was created without what was sent as "${sentAs}" (${setting}): the API may use another name for it`;
    const where = { service: "compliance", connection: profile.connection } as const;
    observer.note({ ...where, kind: "ignored", subject: setting, value: sentAs, message });
  }
}

/** Settles the claim with what the answer says of the document. */
async function settle(
  claim: ReturnType<typeof documentClaim>,
  result: CreateResult,
  nothingSent: boolean,
): Promise<CreateResult> {
  if (result.kind === "document" || result.kind === "named" || result.kind === "rejected") {
    const documentId = idOf(result);
    if (documentId !== undefined)
      return (await claim.settle({ kind: "document", documentId })) ? result : { ...result, unclaimed: true };
  }
  // Both answers rule out a document of ours, also one of an earlier attempt in doubt.
  const ruledOut = result.kind === "rejected" || result.kind === "already-credited";
  if (ruledOut || nothingSent) await claim.settle({ kind: "unsent" });
  return result;
}

function idOf(result: Extract<CreateResult, { kind: "document" | "named" | "rejected" }>): string | undefined {
  if (result.kind === "named") return result.saleId;
  return result.document?.id ?? (result.kind === "rejected" ? result.saleId : undefined);
}

function earliest(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);
}

function createResult(
  classified: ClassifiedCall<SaleDocument>,
  random: () => number,
  firstSentAtMs: number | undefined,
): CreateResult {
  const { meaning, data, message, trouble } = classified;
  if (data) return { kind: "document", document: withLinesThatFit(data), replayed: classified.replayed };
  switch (meaning.kind) {
    case "rejected": {
      const document = rejectedSaleThatFits(classified);
      return { kind: "rejected", document, saleId: meaning.documentId, message, repeatable: false };
    }
    case "rejected-without-trace":
      return { kind: "rejected", message: sentence(message, classified.hint), repeatable: meaning.repeatable };
    case "already-credited":
      return { kind: "already-credited", creditNoteId: meaning.creditNoteId, message };
    case "deferred":
      return {
        kind: "deferred",
        retryAfterMs: afterQuotaMs(meaning.retryAfterMs, random),
        message,
        trouble,
        firstSentAtMs,
      };
    case "not-applied":
      return { kind: "deferred", message, trouble, firstSentAtMs };
    case "unknown-keyed":
    case "unknown":
      if (meaning.documentId !== undefined) return { kind: "named", saleId: meaning.documentId, message };
      return { kind: "unknown", message, evidence: {} };
    case "unexpected":
      if (meaning.documentId !== undefined) return { kind: "named", saleId: meaning.documentId, message };
      return { ...refusalOf(classified), firstSentAtMs };
    default:
      return { ...refusalOf(classified), firstSentAtMs };
  }
}

/**
 * What an attempt hands to the next one of its activity, in the heartbeat details. An attempt whose worker is lost
 * hands over nothing.
 */
interface AttemptMemory {
  /** The attempt that wrote this. */
  throughAttempt: number;
  /** When a request may first have been sent under the key (Unix milliseconds). */
  firstSentAtMs?: number | undefined;
}

/**
 * When a request under this key may first have been sent, before this attempt: as the workflow or an earlier attempt
 * says; or, if the attempt before was lost with its worker, the time at which the activity was scheduled. Undefined if
 * certainly none was.
 */
function firstSentBefore(request: Pick<CreateRequest, "firstSentAtMs">): number | undefined {
  const { attempt, scheduledTimestampMs, heartbeatDetails } = Context.current().info;
  const memory: AttemptMemory | undefined = isMemory(heartbeatDetails) ? heartbeatDetails : undefined;
  const lostOne = attempt > 1 && memory?.throughAttempt !== attempt - 1;
  return request.firstSentAtMs ?? memory?.firstSentAtMs ?? (lostOne ? scheduledTimestampMs : undefined);
}

/** To be called before this attempt fails, so that Temporal retries it. */
function rememberForNextAttempt(firstSentAtMs: number | undefined): void {
  const context = Context.current();
  context.heartbeat({ throughAttempt: context.info.attempt, firstSentAtMs } satisfies AttemptMemory);
}

function isMemory(details: unknown): details is AttemptMemory {
  return typeof details === "object" && details !== null && "throughAttempt" in details;
}
