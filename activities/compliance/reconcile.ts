import { ComplianceApiError, ComplianceInputError, UnexpectedAnswerError } from "../../src/compliance/index.ts";
import type { ComplianceActivities, SaleDocument } from "../../src/contract/index.ts";
import { currentWriter } from "../ledger/beside-calls.ts";
import { type ClassifiedCall, refusalOf, throwIfRetryable } from "../classified-call.ts";
import { type ActivityContext, callAndClassify, runtimeOf } from "./calls.ts";
import { UnreadAnswers } from "./branches.ts";

/**
 * A document for which the service has answered so often in a row, each time with nothing that could be read, keeps the
 * others waiting no longer: a few minutes, since a service that restarts answers so too. What is not answered at all is
 * an outage and not about the document, and is waited out.
 */
export const MOST_UNREAD_OF_DOCUMENT = 10;

/** An answer is for people here: its beginning is enough. */
const LONGEST_MESSAGE = 500;

export function createReconcileActivities(context: ActivityContext) {
  const { ledger, random } = context;
  const unreadAnswers = new UnreadAnswers(context.nowMs, MOST_UNREAD_OF_DOCUMENT);
  return {
    async reconcileDocument(request) {
      const runtime = runtimeOf(context, request.connection);
      const { connection, businessId, type, number, saleId } = request;
      // An answer that could not be compared is not asked for: its call would be wasted.
      await ledger.answers();
      const call = () => runtime.client.getSale(saleId, { businessId });
      const classified = await callAndClassify(runtime, "getSale", request, call);
      const askedFor = JSON.stringify([connection, businessId, saleId]);
      if (classified.data) unreadAnswers.end(askedFor);
      const readResult = readResultOf(classified, () => unreadAnswers.persist(askedFor));
      if (readResult === undefined) {
        throwIfRetryable(classified, random);
        return refusalOf(classified);
      }
      const document = { type, number, saleId };
      const writer = currentWriter();
      const business = { connection, businessId };
      const kind = await ledger.reconciliation.holdDocument(business, document, readResult, writer);
      unreadAnswers.end(askedFor);
      return kind === "given-up" ? { kind: "not-final", givenUp: true } : { kind };
    },
  } satisfies Partial<ComplianceActivities>;
}

type DocumentAnswer = Parameters<ActivityContext["ledger"]["reconciliation"]["holdDocument"]>[2];

/**
 * What the answer says of the document; undefined where it is not about the document.
 * @param persists whether answers that cannot be read are no passing trouble, with this one
 */
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
      const answered = error instanceof ComplianceApiError || error instanceof UnexpectedAnswerError;
      return answered && persists() ? unreadable : undefined;
    }
    case "refused":
      if (meaning.attention === "not-found") return { kind: "not-there" };
      return error instanceof ComplianceInputError && error.code !== "invalid-argument" ? undefined : unreadable;
    default:
      return unreadable;
  }
}
