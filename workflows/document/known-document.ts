import { CancellationScope, condition } from "@temporalio/workflow";

import {
  IN_FLIGHT_STATUSES,
  type ReadDocumentRequest,
  type RetryDocumentResult,
  type SaleDocument,
  type SettledAnswer,
} from "../../src/contract/index.ts";
import { callOrGiveUp, callWithEscalation, isRefusal, BetweenTries } from "../calls/between-tries.ts";
import { ledger } from "../proxies.ts";
import type { SaleContext } from "../sale/state.ts";

/**
 * What a document's status means. `signed`: completed, with its receipt. `unsigned`: completed, but the receipt is not
 * there yet. `unknown-status`: none that the API documents (Fiscal Compliance API, "Sale and credit note status").
 */
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

/**
 * Reads the run's own document, and tries until there is an answer.
 * @param comparison with what was asked for
 */
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

/** The same, of a document that is known to be the run's. */
export async function readDocument(
  context: SaleContext,
  saleId: string,
  betweenTries?: BetweenTries,
): Promise<SaleDocument> {
  return (await compareDocument(context, saleId, {}, betweenTries)).document;
}

/** Reads a document that is not the run's own, and tries until there is an answer. */
export async function readOther({ calls, run, target }: SaleContext, saleId: string): Promise<SaleDocument> {
  const call = () => calls.read.readDocument(`Read the document ${saleId}`, { ...target, saleId });
  return (await callWithEscalation(run, call)).document;
}

/** Takes note of what the activity says of an answer. */
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
function keepLater(context: SaleContext, saleId: string): void {
  const { run } = context;
  const isKeeping = run.answersToKeep.has(saleId);
  run.answersToKeep.set(saleId, "new");
  if (isKeeping) return;
  const keeping = async (): Promise<void> => {
    while (run.answersToKeep.get(saleId) === "new") {
      await ledger.awaitLedger("Wait for the ledger: each attempt is one look");
      run.answersToKeep.set(saleId, "asked");
      await keepDocument(context, saleId);
    }
    run.answersToKeep.delete(saleId);
  };
  run.beforeTheEnd(CancellationScope.nonCancellable(keeping));
}

/** The ledger was away when the answer came: the document is read once more, for its row. */
async function keepDocument(context: SaleContext, saleId: string): Promise<void> {
  const { calls, run, target } = context;
  const kept = await callOrGiveUp(
    run,
    () => calls.background.read.keepDocument("Read the document for the ledger", { ...target, saleId, of: run.row }),
    ({ message }) => ({
      code: "unexpected-answer",
      subject: `ledger ${saleId}`,
      message: `The ledger does not have the last answer about the document ${saleId}: ${message}`,
    }),
  );
  if (kept?.givenBack) run.goodsGivenBack();
}

/**
 * Submits the same document again (POST /v1/sales/{id}/retry). If the answer is lost, the document itself is read
 * before another try; until then it may have completed, so no cancellation is carried out.
 * @throws CancelledByOperator while it is known to be rejected
 */
export async function retryDocument(context: SaleContext, document: SaleDocument): Promise<SaleDocument> {
  const { calls, run, target } = context;
  const betweenTries = new BetweenTries(run);
  try {
    for (;;) {
      run.documentInDoubt = true;
      const asked = { ...target, saleId: document.id, of: run.row };
      const result = await calls.convergingWrite.retryDocument("Submit the document again", asked);
      if (isRefusal(result)) {
        // An unexpected answer does not say whether the document was submitted.
        run.documentInDoubt = result.attention === "unexpected-answer";
        await betweenTries.waitAfterRefusal(result);
        continue;
      }
      betweenTries.clearRefusal();
      if (result.kind !== "converging") answered(context, document.id, result);
      const current = await documentAfter(context, document, result);
      run.document = current;
      run.documentInDoubt = false;
      const hadNoEffect =
        result.kind === "converging" && documentState(current) === "failed" && documentState(document) === "failed";
      const pause = (ms: number, options: { summary: string }) => condition(() => run.cancelDue, ms, options);
      if (hadNoEffect) await betweenTries.waitAfterLostAnswer("The resubmission", document.id, pause);
      if (!hadNoEffect || run.cancelDue) return current;
    }
  } finally {
    betweenTries.clearLostAnswer();
  }
}

async function documentAfter(
  context: SaleContext,
  document: SaleDocument,
  result: Exclude<RetryDocumentResult, { kind: "refused" }>,
): Promise<SaleDocument> {
  switch (result.kind) {
    case "document":
      return result.document;
    case "rejected":
      return result.document ?? { ...document, status: "failed", error: result.message };
    case "converging":
      return await readDocument(context, document.id);
  }
}
