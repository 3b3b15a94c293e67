import { Context } from "@temporalio/activity";

import { ComplianceApiError } from "../../src/compliance/index.ts";
import {
  type ComplianceActivities,
  IN_FLIGHT_STATUSES,
  type ReadDocumentRequest,
  type ReadDocumentResult,
  type SaleDocument,
  withLinesThatFit,
} from "../../src/contract/index.ts";
import { retryWhileLedgerAway, stillWaiting } from "../failure.ts";
import { writerOf } from "../ledger/claim-results.ts";
import { ageMs, pollPauseMs } from "../poll-schedule.ts";
import {
  type ActivityContext,
  unexpectedMeaning,
  callAndClassifyDocument,
  type ClassifiedCall,
  refusalOf,
  runtimeOf,
  throwIfRetryable,
} from "./calls.ts";

export function createDocumentActivities(
  context: ActivityContext,
): Pick<ComplianceActivities, "readDocument" | "keepLines" | "awaitDocument" | "retryDocument"> {
  const { random, ledger } = context;

  /**
   * The document, and its record where it came with the request. Where the ledger does not take that the workflow keeps
   * it: an answer is never lost for it.
   */
  async function found(request: ReadDocumentRequest, read: SaleDocument): Promise<ReadDocumentResult> {
    const { connection, businessId, record } = request;
    const document = withLinesThatFit(read);
    const answer = { kind: "document", document } as const;
    if (!record || document.status !== "completed" || !document.receipt || document.linesLeftOut) return answer;
    try {
      // Dated when the run handed it out: whatever the run has told since is newer.
      const completedRecord = { ...record, document };
      const kept = await ledger.records.saveDocument(
        { connection, businessId },
        completedRecord,
        writerOf(Context.current().info),
      );
      return kept === "saved" || kept === "unchanged" ? { ...answer, recorded: true } : answer;
    } catch {
      return answer;
    }
  }

  async function read(request: ReadDocumentRequest) {
    const runtime = runtimeOf(context, request.connection);
    const { businessId, saleId } = request;
    const classified = await callAndClassifyDocument(runtime, "getSale", request, () =>
      runtime.client.getSale(saleId, { businessId }),
    );
    throwIfRetryable(classified, random);
    return { runtime, classified };
  }

  return {
    async readDocument(request) {
      const { classified } = await read(request);
      if (classified.data) return await found(request, classified.data);
      return refusalOf(classified) ?? unexpectedMeaning(classified);
    },

    async keepLines(request) {
      const { connection, businessId, type, number } = request;
      // Lines that could not be kept are not asked for: the call would be wasted.
      await retryWhileLedgerAway(() => ledger.answers(), random);
      const { classified } = await read(request);
      const document = classified.data;
      if (!document) return refusalOf(classified) ?? unexpectedMeaning(classified);
      await retryWhileLedgerAway(
        () => ledger.records.keepLines({ connection, businessId }, { type, number }, document),
        random,
      );
      return { kind: "kept" };
    },

    async awaitDocument(request) {
      const { runtime, classified } = await read(request);
      const document = classified.data;
      if (!document) return refusalOf(classified) ?? unexpectedMeaning(classified);
      if (!stillUnderWay(document, request.knownStatus)) return await found(request, document);
      const bounds = { ...runtime.pollBounds, firstPollMs: request.firstPollMs };
      throw stillWaiting(`The document is ${document.status}.`, pollPauseMs(ageMs(request.sinceMs), bounds, random));
    },

    async retryDocument(request) {
      const runtime = runtimeOf(context, request.connection);
      const { businessId, saleId } = request;
      const classified = await callAndClassifyDocument(runtime, "retrySale", request, () =>
        runtime.client.retrySale(saleId, { businessId }),
      );
      throwIfRetryable(classified, random);
      if (classified.data) return { kind: "document", document: withLinesThatFit(classified.data) };
      if (classified.meaning.kind === "rejected")
        return { kind: "rejected", document: saleOf(classified), message: classified.message };
      if (classified.meaning.kind === "converging") return { kind: "converging", message: classified.message };
      return refusalOf(classified) ?? unexpectedMeaning(classified);
    },
  };
}

/** No news: in flight, accepted without its receipt, or in the strange status that the workflow knows already. */
function stillUnderWay(document: SaleDocument, knownStatus: string | undefined): boolean {
  if (IN_FLIGHT_STATUSES.includes(document.status)) return true;
  if (document.status === "completed") return !document.receipt;
  return document.status !== "failed" && document.status !== "cancelled" && document.status === knownStatus;
}

function saleOf({ error }: ClassifiedCall<SaleDocument>): SaleDocument | undefined {
  const sale = error instanceof ComplianceApiError ? error.extras.sale : undefined;
  return sale && withLinesThatFit(sale);
}
