import { ActivityFailure, sleep } from "@temporalio/workflow";

import type { RetryDocumentResult, SaleDocument } from "../../src/contract/index.ts";
import { answered, rootMessage } from "../run/answered.ts";
import { growingPauseMs } from "../run/growing-pause.ts";
import { fateOf } from "./document-status.ts";
import { readDocument } from "./read-document.ts";
import type { Work } from "./work.ts";

/**
 * Submits the same document again (POST /v1/sales/{id}/retry), and once only where it is not needed twice: an answer that is
 * lost is looked for in the document before another try.
 */
export async function retryDocument(work: Work, document: SaleDocument): Promise<SaleDocument> {
  const { calls, run, target } = work;
  for (let lost = 0; ; lost++) {
    const result = await answered(run, () =>
      lostAsConverging(calls.convergingWrite.retryDocument({ ...target, saleId: document.id })),
    );
    switch (result.kind) {
      case "document":
        return result.document;
      case "rejected":
        return result.document ?? { ...document, status: "failed", error: result.message };
      case "converging": {
        const read = await readDocument(work, document.id);
        if (fateOf(read) !== "failed" || fateOf(document) !== "failed" || run.cancelDue) return read;
        await sleep(growingPauseMs(lost));
      }
    }
  }
}

async function lostAsConverging(call: Promise<RetryDocumentResult>): Promise<RetryDocumentResult> {
  try {
    return await call;
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    return { kind: "converging", message: rootMessage(error) };
  }
}
