import { randomUUID } from "node:crypto";
import { Context, log } from "@temporalio/activity";

import { ignoredFields } from "../../src/compliance/index.ts";
import {
  type ComplianceActivities,
  type ComposedRequest,
  type CreateRequest,
  type CreateResult,
  type CreateSaleRequest,
  differencesFrom,
  type SaleDocument,
  type SettledAnswer,
  type UnsentCreation,
  withLinesThatFit,
} from "../../src/contract/index.ts";
import type { Deadline } from "../../src/http/deadline.ts";
import {
  type Answer,
  type DocumentKey,
  type DocumentOutcome,
  type Ledger,
  LedgerUnavailableError,
  type TakeDocumentAnswer,
  type Writer,
} from "../../src/ledger/index.ts";
import {
  claimOrDeferred,
  type ClassifiedCall,
  currentWriter,
  lastMomentToSend,
  notServedMessage,
  refusalOf,
  scheduledAtMs,
  sentence,
  stillUnderWay,
  throwIfRetryable,
} from "../classified-call.ts";
import { afterQuotaMs } from "../failure.ts";
import { type ActivityContext, callAndClassify, type ComplianceRuntime, rejectedSale, runtimeOf } from "./calls.ts";

/** What is to be sent: the bytes that were sent first. */
interface ToSend {
  request: ComposedRequest;
  sendBefore: Deadline;
}

/** The two requests that bring a document into being, each under its Idempotency-Key. */
export function createCreationActivities(context: ActivityContext) {
  const { random, nowMs, ledger, observer } = context;
  const { documents } = ledger;

  /**
   * Creates a document, under its claim alone: that has the bytes that were sent first, so that every attempt of every
   * run sends the same under the same key (docs/architecture.md, "One document for a number"). What was sent before is
   * repeated only while the service remembers its key. Whatever is known is a result, since a failed activity reads as
   * a lost answer.
   * @param repeatableForMs for so long after the first sending; 0: never, and the activity has one attempt
   */
  async function create(
    runtime: ComplianceRuntime,
    asked: CreateRequest | CreateSaleRequest,
    repeatableForMs: number,
    send: (first: ToSend) => Promise<ClassifiedCall<SaleDocument>>,
  ): Promise<CreateResult> {
    const { callTimeoutMs } = runtime.profile.timings;
    const sendBefore = lastMomentToSend(callTimeoutMs);
    const { connection, businessId, intent, content, request } = asked;
    const { movementsPlanned, expectedTotal, ...of } = asked.of;
    const key = { connection, businessId, of, intent };
    const writer = currentWriter();
    const execution = randomUUID();
    const underWayForMs = sendBefore.leftMs + callTimeoutMs;
    const by = { execution, underWayForMs, scheduledAtMs: Math.min(asked.sinceMs, scheduledAtMs()), repeatableForMs };
    const takenAtMs = nowMs();
    const { attempt } = Context.current().info;
    // The workflow looked before the first attempt; a cancellation since then waits for this one at most.
    const unlessCancelled = attempt > 1;
    const toSend = { idempotencyKey: keySentWith(asked), content, request };
    const call = { ...key, ...toSend, writer, nowMs: takenAtMs, unlessCancelled };
    const taken = await claimOrDeferred(
      async () => {
        await releaseUnsent(documents, key, asked.unsent, writer);
        return await documents.take({ ...call, ...by });
      },
      () => documents.ended({ ...key, execution }),
    );
    if (taken.kind === "deferred") {
      // Without its claim nothing is known of an earlier attempt of this activity either.
      return { ...taken, ...(attempt > 1 && { inDoubt: true }), unsent: { intent, execution, takenAtMs } };
    }
    if (taken.kind !== "send") return knownOf(taken, of.number, repeatableForMs);
    let isSettled = false;
    /** The answer must reach the workflow in any case: what the ledger does not take, the workflow has written later. */
    const settle = async (outcome: DocumentOutcome, answer?: Answer): Promise<SettledAnswer> => {
      const settled = { ...key, outcome, writer };
      const found = answer ? differencesFrom(answer.document, asked.expected, expectedTotal) : {};
      try {
        let kept: SettledAnswer = {};
        if (answer) kept = await documents.settleAnswered({ ...settled, answer, movementsPlanned, seen: taken.seen });
        else await documents.settle(settled);
        isSettled = true;
        return { ...found, ...kept };
      } catch (error) {
        if (error instanceof LedgerUnavailableError) return { ...found, unsettled: true };
        log.error("The ledger refused an answer", { error });
        // Of an answer that it cannot keep, it still knows the document.
        if (answer) await documents.settle(settled).catch(() => undefined);
        return { ...found, unsettled: true };
      }
    };
    try {
      const askedAtMs = nowMs();
      // Written by `take` alone, as it was given.
      const classified = await send({ request: taken.request as ComposedRequest, sendBefore });
      const { kind } = classified.meaning;
      const inDoubt = !taken.first || kind === "unknown-keyed" || kind === "unexpected";
      const result = createResult(classified, random, inDoubt);
      const documentId = idOf(result);
      const document = classified.data ?? rejectedSale(classified);
      let kept = result;
      if (documentId !== undefined) {
        const answer = document && { document, askedAtMs };
        kept = { ...result, ...(await settle({ kind: "document", documentId }, answer)) };
      } else if (result.kind === "rejected" || result.kind === "already-credited") {
        // Both rule out a document of ours, also one of an earlier attempt in doubt.
        await settle({ kind: "unsent" });
      } else if (!inDoubt && result.kind !== "unknown") {
        await settle({ kind: "unsent", execution });
      }
      if (repeatableForMs > 0) throwIfRetryable(classified, random);
      return kept;
    } finally {
      if (!isSettled) await documents.ended({ ...key, execution }).catch(() => undefined);
    }
  }

  return {
    async createSale(request) {
      // The workflow decided when it began, and has the activity tried once if the key was not trusted: what this
      // worker's configuration says now can only make the sale more careful. A worker without the connection must not
      // fail the one that is tried once.
      const known = context.connections.get(request.connection);
      if (request.saleKey !== "trusted" && !known)
        return { kind: "deferred", message: notServedMessage(context.connections, request.connection) };
      const runtime = known ?? runtimeOf(context, request.connection);
      const saleKey = request.saleKey === "trusted" && runtime.profile.saleKey === "trusted" ? "trusted" : "sent";
      const repeatableForMs = saleKey === "trusted" ? keyLife(runtime) : 0;
      // A wrong one may have been corrected since the request was composed; what was sent before goes where it went.
      const { path } = runtime.dialect.createSale;
      const asked = { ...request, request: { ...request.request, path } };
      return await create(runtime, asked, repeatableForMs, async ({ request: first, sendBefore }) => {
        const sending = { idempotencyKey: keySentWith(request), sendBefore, atMostOnce: saleKey !== "trusted" };
        const call = () => runtime.client.createSale(first, sending);
        const classified = await callAndClassify(runtime, "createSale", request, call, undefined, { saleKey });
        const created = classified.data ?? rejectedSale(classified);
        if (created) noteIgnored(runtime, first, created, observer);
        return classified;
      });
    },

    async createCreditNote(request) {
      const runtime = runtimeOf(context, request.connection);
      const { idempotencyKey } = request;
      return await create(runtime, request, keyLife(runtime), ({ request: first, sendBefore }) =>
        callAndClassify(runtime, "createCreditNote", request, () =>
          runtime.client.createCreditNote(first, { idempotencyKey, sendBefore }),
        ),
      );
    },
  } satisfies Partial<ComplianceActivities>;
}

/** Of a creation that was put off since the ledger did not say that it had the claim: it may have it all the same. */
export async function releaseUnsent(
  documents: Ledger["documents"],
  document: DocumentKey,
  unsent: readonly UnsentCreation[] = [],
  writer: Writer,
): Promise<void> {
  for (const { intent, execution, takenAtMs } of unsent) {
    const outcome = { kind: "unsent", execution, takenAtMs } as const;
    await documents.settle({ ...document, intent, outcome, writer });
  }
}

function keySentWith(request: CreateRequest & Partial<CreateSaleRequest>): string | undefined {
  return request.saleKey === "off" ? undefined : request.idempotencyKey;
}

/** For so long after it was sent under a key that is trusted, it is the same request to the service. */
function keyLife({ profile }: ComplianceRuntime): number {
  const { keyLifeMs, callTimeoutMs } = profile.timings;
  return Math.max(0, keyLifeMs - callTimeoutMs);
}

/** What the claim knows of the document already: nothing is sent. */
function knownOf(
  taken: Exclude<TakeDocumentAnswer, { kind: "send" }>,
  number: string,
  repeatableForMs: number,
): CreateResult {
  const unknown = (message: string, evidence: Record<string, unknown> = {}): CreateResult => {
    return { kind: "unknown", message, evidence };
  };
  switch (taken.kind) {
    case "in-progress":
      return { kind: "deferred", retryAfterMs: taken.forMs, message: stillUnderWay(taken), inDoubt: true };
    case "cancel-requested":
      return { kind: "deferred", message: "Nothing was sent: its cancellation was asked for.", inDoubt: false };
    case "doubtful": {
      const firstSentAt = new Date(taken.firstSentAtMs).toISOString();
      const why =
        repeatableForMs === 0
          ? `It was sent at ${firstSentAt} by an earlier try, and what became of that is not known.`
          : `An answer was lost, and the API remembers the key of ${firstSentAt} no longer: sent again, it could become a second document.`;
      return unknown(why, { firstSentAt });
    }
    case "known":
      return { kind: "named", saleId: taken.documentId, message: "An earlier run of this workflow made it." };
    case "behind": {
      const { intent, decision } = taken;
      if (!decision) return { kind: "superseded", intent };
      const { decision: _which, ...who } = decision;
      return { kind: "superseded", intent, decision: who };
    }
    case "number-taken": {
      // For people: the sale by its own number, if it is known, and by what the service knows it by.
      const { saleId, sale, holder } = taken;
      const known = sale === undefined ? saleId : `${sale} (${saleId})`;
      const message = `The number ${number} belongs to the credit note of another sale: ${known}, of ${holder}. Nothing was sent. Use another number.`;
      return { kind: "number-taken", message };
    }
    case "credited-by-another": {
      const message = `The sale has the credit note ${taken.number} already, which is signed or may be. Nothing was sent. Ask for the refund under that number.`;
      return { kind: "number-taken", isOwn: true, message };
    }
    case "not-known":
      return unknown("The ledger had no row of it, so nobody knows whether it was sent before. Nothing was sent now.");
    case "different": {
      const firstSentAt = new Date(taken.firstSentAtMs).toISOString();
      const message = `An earlier run sent another request under this number at ${firstSentAt}, and what became of it is not known.`;
      return unknown(message, { firstSentAt });
    }
  }
}

function createResult(classified: ClassifiedCall<SaleDocument>, random: () => number, inDoubt: boolean): CreateResult {
  const { meaning, data, message, trouble } = classified;
  if (data) return { kind: "document", document: withLinesThatFit(data), replayed: classified.replayed };
  switch (meaning.kind) {
    case "rejected": {
      const sale = rejectedSale(classified);
      const document = sale && withLinesThatFit(sale);
      return { kind: "rejected", document, saleId: meaning.documentId, message, repeatable: false };
    }
    case "rejected-without-trace":
      return { kind: "rejected", message: sentence(message, classified.hint), repeatable: meaning.repeatable };
    case "already-credited":
      return { kind: "already-credited", creditNoteId: meaning.creditNoteId, message };
    case "deferred": {
      const retryAfterMs = afterQuotaMs(meaning.retryAfterMs, random);
      return { kind: "deferred", retryAfterMs, message, trouble, inDoubt };
    }
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

function idOf(result: CreateResult): string | undefined {
  if (result.kind === "named") return result.saleId;
  if (result.kind === "document") return result.document.id;
  return result.kind === "rejected" ? (result.document?.id ?? result.saleId) : undefined;
}

/** Notes the fields that the service ignored. The document counts all the same: what it must have is compared. */
function noteIgnored(
  { dialect, profile }: ComplianceRuntime,
  { bodyJson }: ComposedRequest,
  document: SaleDocument,
  observer: ActivityContext["observer"],
): void {
  const where = { service: "compliance", connection: profile.connection } as const;
  for (const { setting, sentAs } of ignoredFields(dialect, bodyJson, document)) {
    const message = `A sale was created without what was sent as "${sentAs}" (${setting}): the API may use another name for it`;
    observer.note({ ...where, kind: "ignored", subject: setting, value: sentAs, message });
  }
}
