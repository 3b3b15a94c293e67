import { Context } from "@temporalio/activity";

import {
  type AwaitDocumentRequest,
  type CallTarget,
  type ComplianceActivities,
  IN_FLIGHT_STATUSES,
  type ReadDocumentRequest,
  type SaleDocument,
  withLinesThatFit,
  isRefusedStatus,
} from "../../src/contract/index.ts";
import { stillWaiting } from "../failure.ts";
import { currentWriter, settleAnswer } from "../ledger/beside-calls.ts";
import { ageMs, pollPauseMs } from "../poll-schedule.ts";
import { refusalOf } from "../classified-call.ts";
import { type ActivityContext, ask, type ComplianceRuntime, rejectedSale, runtimeOf } from "./calls.ts";

export function createDocumentActivities(context: ActivityContext) {
  const { random, ledger, nowMs } = context;

  /** The document as the workflow has it; it is written into its row, if it belongs to one. */
  async function found(request: ReadDocumentRequest, document: SaleDocument, askedAtMs: number) {
    const settled = await settleAnswer(ledger, request, { document, askedAtMs });
    return { kind: "document", document: withLinesThatFit(document), ...settled } as const;
  }

  function read(request: CallTarget & { saleId: string }) {
    const { businessId, saleId } = request;
    return ask(context, request, "getSale", ({ client }) => client.getSale(saleId, { businessId }));
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
      const classified = await ask(context, request, "retrySale", call);
      const { data, message } = classified;
      if (data) return await found(request, data, askedAtMs);
      if (classified.meaning.kind === "rejected") {
        const document = rejectedSale(classified);
        return document
          ? { ...(await found(request, document, askedAtMs)), kind: "rejected", message }
          : { kind: "rejected", message };
      }
      if (classified.meaning.kind === "converging") return { kind: "converging", message };
      return refusalOf(classified);
    },
  } satisfies Partial<ComplianceActivities>;
}

/**
 * No news: in flight, accepted without its receipt, or strange where that is known. A service whose machines differ in
 * their words could bring another status with every look: one that is not final is told once at most.
 */
function stillUnderWay({ status, receipt }: SaleDocument, { knownStatus }: AwaitDocumentRequest): boolean {
  if (status === "completed") return !receipt;
  if (isRefusedStatus(status)) return false;
  const isDocumented = (one: string): boolean => one === "completed" || IN_FLIGHT_STATUSES.includes(one);
  return isDocumented(status) || !isDocumented(knownStatus);
}
