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
import { afterQuotaMs } from "../failure.ts";
import type { Answer } from "../../src/ledger/index.ts";
import { documentClaim, keySentWith } from "../ledger/beside-calls.ts";
import {
  claimOrDeferred,
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
   * Creates a document, under its claim alone. What was sent before, by whichever run, is repeated only while the
   * service remembers its key: Temporal retries the activity for so long. Whatever is known is a result, since a failed
   * activity reads as a lost answer.
   * @param repeatableForMs for so long after the first sending; 0: never, and the activity has one attempt
   */
  async function create(
    runtime: ComplianceRuntime,
    request: CreateRequest | CreateSaleRequest,
    repeatableForMs: number,
    send: (first: ToSend) => Promise<ClassifiedCall<SaleDocument>>,
  ): Promise<CreateResult> {
    const { callTimeoutMs } = runtime.profile.timings;
    const sendBefore = lastMomentToSend(callTimeoutMs);
    const claim = documentClaim(ledger, request, { now: nowMs, sendBefore, callTimeoutMs, repeatableForMs });
    const begun = await claimOrDeferred(() => claim.begin());
    if (begun.kind !== "send") return withAttempt(begun);
    try {
      const askedAtMs = nowMs();
      const classified = await send({ request: begun.request, sendBefore });
      const { kind } = classified.meaning;
      const inDoubt = begun.isRepeated || kind === "unknown-keyed" || kind === "unexpected";
      const result = createResult(classified, random, inDoubt);
      const answered = classified.data ?? rejectedSale(classified);
      const answer = answered && { document: answered, askedAtMs };
      const kept = await settle(claim, result, !inDoubt && result.kind !== "unknown", answer);
      if (repeatableForMs > 0) throwIfRetryable(classified, random);
      return kept;
    } finally {
      await claim.ended();
    }
  }

  return {
    async createSale(request) {
      // The workflow decided when it began, and has the activity tried once where the key was not trusted: what this
      // worker's configuration says now can only make the sale more careful. A worker without the connection must not
      // fail the one that is tried once.
      const known = context.connections.get(request.connection);
      if (request.saleKey !== "trusted" && !known)
        return { kind: "deferred", message: notServedMessage(context.connections, request.connection) };
      const runtime = known ?? runtimeOf(context, request.connection);
      const saleKey = request.saleKey === "trusted" && runtime.profile.saleKey === "trusted" ? "trusted" : "sent";
      const repeatableForMs = saleKey === "trusted" ? keyLife(runtime) : 0;
      return await create(runtime, request, repeatableForMs, (first) => sendSale(runtime, request, first, { saleKey }));
    },
    async createCreditNote(request) {
      const runtime = runtimeOf(context, request.connection);
      return await create(runtime, request, keyLife(runtime), (first) => sendCreditNote(runtime, request, first));
    },
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

/** Settles the claim with what the answer says of the document, and the row with the whole answer. */
async function settle(
  claim: ReturnType<typeof documentClaim>,
  result: CreateResult,
  nothingSent: boolean,
  answer: Answer | undefined,
): Promise<CreateResult> {
  if (result.kind === "document" || result.kind === "named" || result.kind === "rejected") {
    const documentId = idOf(result);
    if (documentId !== undefined) {
      return { ...result, ...(await claim.settle({ kind: "document", documentId }, answer)) };
    }
  }
  // Both answers rule out a document of ours, also one of an earlier attempt in doubt.
  const ruledOut = result.kind === "rejected" || result.kind === "already-credited";
  if (ruledOut) await claim.settle({ kind: "unsent" });
  else if (nothingSent) await claim.settle({ kind: "unsent", execution: claim.execution });
  return result;
}

function idOf(result: Extract<CreateResult, { kind: "document" | "named" | "rejected" }>): string | undefined {
  if (result.kind === "named") return result.saleId;
  return result.document?.id ?? (result.kind === "rejected" ? result.saleId : undefined);
}

/** For so long after it was sent under a key that is trusted, it is the same request to the service. */
function keyLife({ profile }: ComplianceRuntime): number {
  const { keyLifeMs, callTimeoutMs } = profile.timings;
  return Math.max(0, keyLifeMs - callTimeoutMs);
}

/** Without its claim nothing is known of an earlier attempt of this activity either. */
function withAttempt(result: CreateResult): CreateResult {
  const isUnread = result.kind === "deferred" && result.inDoubt === undefined;
  return isUnread && Context.current().info.attempt > 1 ? { ...result, inDoubt: true } : result;
}

function createResult(classified: ClassifiedCall<SaleDocument>, random: () => number, inDoubt: boolean): CreateResult {
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
        inDoubt,
      };
    case "not-applied":
      return { kind: "deferred", message, trouble, inDoubt };
    case "unknown-keyed":
    case "unknown":
      if (meaning.documentId !== undefined) return { kind: "named", saleId: meaning.documentId, message };
      return { kind: "unknown", message, evidence: {} };
    case "unexpected":
      if (meaning.documentId !== undefined) return { kind: "named", saleId: meaning.documentId, message };
      return { ...refusalOf(classified), inDoubt };
    default:
      return { ...refusalOf(classified), inDoubt };
  }
}
