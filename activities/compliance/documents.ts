import { Context } from "@temporalio/activity";

import { classifyDocument, ComplianceApiError, type OperationName, type Result } from "../../src/compliance/index.ts";
import {
  type CallTarget,
  type ComplianceActivities,
  IN_FLIGHT_STATUSES,
  type ReadDocumentRequest,
  type ReadDocumentResult,
  type SaleDocument,
  withLinesThatFit,
} from "../../src/contract/index.ts";
import { onceThere, stillWaiting } from "../failure.ts";
import { writerOf } from "../ledger/claim-results.ts";
import { ageMs, pollPauseMs } from "../poll-schedule.ts";
import { beyondTheTable, judge, type Judged, refusalOf, throwToTryAgain } from "./judge.ts";
import { type ActivityContext, type ComplianceRuntime, runtimeOf } from "./runtime.ts";

export function createDocumentActivities(
  context: ActivityContext,
): Pick<ComplianceActivities, "readDocument" | "keepLines" | "awaitDocument" | "retryDocument"> {
  const { random, ledger } = context;

  function judgeDocument(
    runtime: ComplianceRuntime,
    operation: OperationName,
    target: CallTarget,
    call: () => Promise<Result<SaleDocument>>,
  ): Promise<Judged<SaleDocument>> {
    return judge(runtime, operation, target, call, (result) => classifyDocument(result, runtime.dialect));
  }

  /** The document, and its record where it came with the request. Where the ledger does not take that the workflow keeps it: an answer is never lost for it. */
  async function found(request: ReadDocumentRequest, read: SaleDocument): Promise<ReadDocumentResult> {
    const { connection, businessId, record } = request;
    const document = withLinesThatFit(read);
    const answer = { kind: "document", document } as const;
    if (!record || document.status !== "completed" || !document.receipt || document.linesLeftOut) return answer;
    try {
      // Dated when the run handed it out: whatever the run has told since is newer.
      const told = { ...record, document };
      const kept = await ledger.records.saveDocument(
        { connection, businessId },
        told,
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
    const judged = await judgeDocument(runtime, "getSale", request, () =>
      runtime.client.getSale(saleId, { businessId }),
    );
    throwToTryAgain(judged, random);
    return { runtime, judged };
  }

  return {
    async readDocument(request) {
      const { judged } = await read(request);
      if (judged.data) return await found(request, judged.data);
      return refusalOf(judged) ?? beyondTheTable(judged);
    },

    async keepLines(request) {
      const { connection, businessId, type, number } = request;
      // Lines that could not be kept are not asked for: the call would be wasted.
      await onceThere(() => ledger.answers(), random);
      const { judged } = await read(request);
      const document = judged.data;
      if (!document) return refusalOf(judged) ?? beyondTheTable(judged);
      await onceThere(() => ledger.records.keepLines({ connection, businessId }, { type, number }, document), random);
      return { kind: "kept" };
    },

    async awaitDocument(request) {
      const { runtime, judged } = await read(request);
      const document = judged.data;
      if (!document) return refusalOf(judged) ?? beyondTheTable(judged);
      if (!stillUnderWay(document, request.knownStatus)) return await found(request, document);
      const bounds = { ...runtime.pollBounds, firstPollMs: request.firstPollMs };
      throw stillWaiting(`The document is ${document.status}.`, pollPauseMs(ageMs(request.sinceMs), bounds, random));
    },

    async retryDocument(request) {
      const runtime = runtimeOf(context, request.connection);
      const { businessId, saleId } = request;
      const judged = await judgeDocument(runtime, "retrySale", request, () =>
        runtime.client.retrySale(saleId, { businessId }),
      );
      throwToTryAgain(judged, random);
      if (judged.data) return { kind: "document", document: withLinesThatFit(judged.data) };
      if (judged.meaning.kind === "rejected")
        return { kind: "rejected", document: saleOf(judged), message: judged.message };
      if (judged.meaning.kind === "converging") return { kind: "converging", message: judged.message };
      return refusalOf(judged) ?? beyondTheTable(judged);
    },
  };
}

/** No news: in flight, accepted without its receipt, or in the strange status that the workflow knows already. */
function stillUnderWay(document: SaleDocument, knownStatus: string | undefined): boolean {
  if (IN_FLIGHT_STATUSES.includes(document.status)) return true;
  if (document.status === "completed") return !document.receipt;
  return document.status !== "failed" && document.status !== "cancelled" && document.status === knownStatus;
}

function saleOf({ error }: Judged<SaleDocument>): SaleDocument | undefined {
  const sale = error instanceof ComplianceApiError ? error.extras.sale : undefined;
  return sale && withLinesThatFit(sale);
}
