import { Context } from "@temporalio/activity";

import { AnswerError, CallInputError } from "../../src/http/service-call.ts";
import {
  type AwaitDocumentRequest,
  type CallTarget,
  type ComplianceActivities,
  differencesFrom,
  IN_FLIGHT_STATUSES,
  isRefusedStatus,
  type ReadDocumentRequest,
  type SaleDocument,
  type SettledAnswer,
  withLinesThatFit,
} from "../../src/contract/index.ts";
import type { Answer, Ledger } from "../../src/ledger/index.ts";
import { type ClassifiedCall, currentWriter, refusalOf, throwIfRetryable } from "../classified-call.ts";
import { UnreadAnswers } from "./businesses.ts";
import {
  type ActivityContext,
  ask,
  callAndClassify,
  type ComplianceRuntime,
  rejectedSale,
  runtimeOf,
} from "./calls.ts";
import { ageMs, pollPauseMs, stillWaiting } from "../failure.ts";

/**
 * So many unreadable answers in a row take minutes, as a service that restarts gives them; then the other documents
 * wait no longer. What is not answered at all is an outage, and is waited out.
 */
export const MOST_UNREAD_OF_DOCUMENT = 10;

/** An answer is for people here: its beginning is enough. */
const LONGEST_MESSAGE = 500;

export function createDocumentActivities(context: ActivityContext) {
  const { random, ledger, nowMs } = context;
  const unreadAnswers = new UnreadAnswers(nowMs, MOST_UNREAD_OF_DOCUMENT);

  /** The document as the workflow has it; it is written into its row, if it belongs to one. */
  async function found(request: ReadDocumentRequest, document: SaleDocument, askedAtMs: number) {
    const settled = await settleAnswer(ledger, request, { document, askedAtMs });
    return { kind: "document", document: withLinesThatFit(document), ...settled } as const;
  }

  function read(request: CallTarget & { saleId: string }) {
    const { businessId, saleId } = request;
    return ask(context, request, "readDocument", ({ client }) => client.getSale(saleId, { businessId }));
  }

  return {
    async readDocument(request) {
      const askedAtMs = nowMs();
      const classified = await read(request);
      return classified.data ? await found(request, classified.data, askedAtMs) : refusalOf(classified);
    },

    async keepDocument(request) {
      // What could not be kept is not asked for: the call would be wasted.
      await ledger.answers();
      const askedAtMs = nowMs();
      const classified = await read(request);
      const document = classified.data;
      if (!document) return refusalOf(classified);
      const kept = await ledger.documents.answered(request, request.of, { document, askedAtMs }, currentWriter());
      return { kind: "document", document: withLinesThatFit(document), ...kept };
    },

    async awaitDocument(request) {
      const { pollBounds } = runtimeOf(context, request.connection);
      const bounds = { ...pollBounds, firstPollMs: request.firstPollMs };
      const pauseMs = pollPauseMs(ageMs(request.sinceMs), bounds, random);
      const { readAtMs } = request;
      const isFirst = Context.current().info.attempt === 1;
      const tooSoonForMs = isFirst && readAtMs !== undefined ? pauseMs - ageMs(readAtMs) : 0;
      if (tooSoonForMs > 0) throw stillWaiting("The document was read a moment ago.", tooSoonForMs);
      const askedAtMs = nowMs();
      const classified = await read(request);
      const document = classified.data;
      if (!document) return refusalOf(classified);
      if (!stillUnderWay(document, request)) return await found(request, document, askedAtMs);
      throw stillWaiting(`The document is ${document.status}.`, pauseMs);
    },

    async retryDocument(request) {
      const { businessId, saleId } = request;
      const askedAtMs = nowMs();
      const call = ({ client }: ComplianceRuntime) => client.retrySale(saleId, { businessId });
      const classified = await ask(context, request, "retryDocument", call);
      const { data, message } = classified;
      if (data) return await found(request, data, askedAtMs);
      if (classified.meaning.kind === "rejected") {
        const carried = rejectedSale(classified);
        if (carried?.id === saleId) return { ...(await found(request, carried, askedAtMs)), kind: "rejected", message };
        // It holds none, or that which a credit note reverses: the document may have been completed by a resubmission
        // whose answer was lost.
        const readAtMs = nowMs();
        const document = (await read(request).catch(() => undefined))?.data;
        return { ...(document && (await found(request, document, readAtMs))), kind: "rejected", message };
      }
      if (classified.meaning.kind === "converging") return { kind: "converging", message };
      return refusalOf(classified);
    },

    async reconcileDocument(request) {
      const runtime = runtimeOf(context, request.connection);
      const { connection, businessId, type, number, saleId } = request;
      await ledger.answers();
      const askedAtMs = nowMs();
      const call = () => runtime.client.getSale(saleId, { businessId });
      const classified = await callAndClassify(runtime, "awaitDocument", request, call);
      const askedFor = JSON.stringify([connection, businessId, saleId]);
      if (classified.data) unreadAnswers.end(askedFor);
      const readResult = readResultOf(classified, () => unreadAnswers.persist(askedFor));
      if (readResult === undefined) {
        throwIfRetryable(classified, random);
        return refusalOf(classified);
      }
      const [business, document] = [
        { connection, businessId },
        { type, number, saleId },
      ];
      const told = { answer: readResult, askedAtMs };
      const kind = await ledger.reconciliation.holdDocument(business, document, told, currentWriter());
      unreadAnswers.end(askedFor);
      return kind === "given-up" ? { kind: "not-final", givenUp: true } : { kind };
    },
  } satisfies Partial<ComplianceActivities>;
}

/** No news. Of a service whose machines differ in their words, a strange status is told once at most. */
function stillUnderWay({ status, receipt }: SaleDocument, { knownStatus }: AwaitDocumentRequest): boolean {
  if (status === "completed") return !receipt;
  if (isRefusedStatus(status)) return false;
  const isDocumented = (one: string): boolean => one === "completed" || IN_FLIGHT_STATUSES.includes(one);
  return isDocumented(status) || !isDocumented(knownStatus);
}

type DocumentAnswer = Parameters<ActivityContext["ledger"]["reconciliation"]["holdDocument"]>[2]["answer"];

/** Undefined if the answer is not about the document. */
function readResultOf(classified: ClassifiedCall<SaleDocument>, persists: () => boolean): DocumentAnswer | undefined {
  const { data, meaning, error, message } = classified;
  if (data) return { kind: "document", document: data };
  const unreadable: DocumentAnswer = { kind: "unreadable", message: message.slice(0, LONGEST_MESSAGE) };
  switch (meaning.kind) {
    // The key, the quota, or a request that never left.
    case "configuration":
    case "deferred":
    case "not-applied":
      return undefined;
    case "transient": {
      return error instanceof AnswerError && persists() ? unreadable : undefined;
    }
    case "refused":
      if (meaning.attention === "not-found") return { kind: "not-there" };
      return error instanceof CallInputError && error.code !== "invalid-argument" ? undefined : unreadable;
    default:
      return unreadable;
  }
}

/**
 * Compares an answer with what was asked for, and writes it into the document's row. It must reach the workflow in any
 * case, which has it written later if the ledger does not take it.
 */
async function settleAnswer(
  { documents }: Pick<Ledger, "documents">,
  { connection, businessId, of, expected, mayBeAnothers }: ReadDocumentRequest,
  answer: Answer,
): Promise<SettledAnswer> {
  if (!of) return {};
  const found = differencesFrom(answer.document, expected, of.expectedTotal);
  if (mayBeAnothers && found.differences) return found;
  try {
    return { ...found, ...(await documents.answered({ connection, businessId }, of, answer, currentWriter())) };
  } catch {
    return { ...found, unsettled: true };
  }
}
