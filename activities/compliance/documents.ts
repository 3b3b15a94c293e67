import { Context } from "@temporalio/activity";

import {
  type AwaitDocumentRequest,
  type ComplianceActivities,
  IN_FLIGHT_STATUSES,
  type ReadDocumentRequest,
  type ReadDocumentResult,
  type SaleDocument,
  withLinesThatFit,
} from "../../src/contract/index.ts";
import { stillWaiting } from "../failure.ts";
import { saveWithAnswer } from "../ledger/beside-calls.ts";
import { ageMs, pollPauseMs } from "../poll-schedule.ts";
import { refusalOf } from "../classified-call.ts";
import { type ActivityContext, ask, type ComplianceRuntime, rejectedSaleThatFits, runtimeOf } from "./calls.ts";

export function createDocumentActivities(context: ActivityContext) {
  const { random, ledger } = context;

  /** The document. Its record is saved where it came with the request. */
  async function found(request: ReadDocumentRequest, read: SaleDocument): Promise<ReadDocumentResult> {
    const { record } = request;
    const document = withLinesThatFit(read);
    const answer = { kind: "document", document } as const;
    if (!record || document.status !== "completed" || !document.receipt || document.linesLeftOut) return answer;
    // Dated when the run handed it out: whatever the run has sent since is newer.
    return { ...answer, ...(await saveWithAnswer(ledger, request, { ...record, document })) };
  }

  function read(request: ReadDocumentRequest) {
    const { businessId, saleId } = request;
    return ask(context, request, "getSale", ({ client }) => client.getSale(saleId, { businessId }));
  }

  return {
    async readDocument(request) {
      const classified = await read(request);
      return classified.data ? await found(request, classified.data) : refusalOf(classified);
    },

    async keepLines(request) {
      const { connection, businessId, type, number } = request;
      // Lines that could not be kept are not asked for: the call would be wasted.
      await ledger.answers();
      const classified = await read(request);
      if (!classified.data) return refusalOf(classified);
      await ledger.records.keepLines({ connection, businessId }, { type, number }, classified.data);
      return { kind: "kept" };
    },

    async awaitDocument(request) {
      const { pollBounds } = runtimeOf(context, request.connection);
      const bounds = { ...pollBounds, firstPollMs: request.firstPollMs };
      const pauseMs = pollPauseMs(ageMs(request.sinceMs), bounds, random);
      const { readAtMs } = request;
      const isFirst = Context.current().info.attempt === 1;
      const tooSoonForMs = isFirst && readAtMs !== undefined ? pauseMs - ageMs(readAtMs) : 0;
      if (tooSoonForMs > 0) throw stillWaiting("The document was read a moment ago.", tooSoonForMs);
      const classified = await read(request);
      const document = classified.data;
      if (!document) return refusalOf(classified);
      if (!stillUnderWay(document, request)) return await found(request, document);
      throw stillWaiting(`The document is ${document.status}.`, pauseMs);
    },

    async retryDocument(request) {
      const { businessId, saleId } = request;
      const call = ({ client }: ComplianceRuntime) => client.retrySale(saleId, { businessId });
      const classified = await ask(context, request, "retrySale", call);
      if (classified.data) return { kind: "document", document: withLinesThatFit(classified.data) };
      if (classified.meaning.kind === "rejected")
        return { kind: "rejected", document: rejectedSaleThatFits(classified), message: classified.message };
      if (classified.meaning.kind === "converging") return { kind: "converging", message: classified.message };
      return refusalOf(classified);
    },
  } satisfies Partial<ComplianceActivities>;
}

/**
 * No news: still in flight, accepted without its receipt, or strange as before. A service whose machines differ in their
 * words could change a strange status for another with every look: it is told once, and stays until the document is final.
 */
function stillUnderWay({ status, receipt }: SaleDocument, { knownStatus }: AwaitDocumentRequest): boolean {
  if (status === "completed") return !receipt;
  if (status === "failed" || status === "cancelled") return false;
  if (knownStatus === "completed") return false;
  const wasStrange = !IN_FLIGHT_STATUSES.includes(knownStatus);
  return wasStrange || IN_FLIGHT_STATUSES.includes(status);
}
