import { condition } from "@temporalio/workflow";

import { IN_FLIGHT_STATUSES, type RetryDocumentResult, type SaleDocument } from "../../src/contract/index.ts";
import { callWithEscalation, isRefusal, Tries } from "../calls/tries.ts";
import type { SaleContext } from "../sale/state.ts";

/**
 * `whole`: accepted, with its receipt. `unsigned`: accepted, the receipt is not there yet. `strange`: a status that the
 * document of the API does not list. (Fiscal Compliance API, "Sale and credit note status".)
 */
type DocumentFate = "whole" | "unsigned" | "in-flight" | "failed" | "cancelled" | "strange";

export function fateOf(document: SaleDocument): DocumentFate {
  switch (document.status) {
    case "completed":
      return document.receipt ? "whole" : "unsigned";
    case "failed":
      return "failed";
    case "cancelled":
      return "cancelled";
    default:
      return IN_FLIGHT_STATUSES.includes(document.status) ? "in-flight" : "strange";
  }
}

/** Reads the document now, however long it takes to get an answer. */
export async function readDocument(work: SaleContext, saleId: string, tries?: Tries): Promise<SaleDocument> {
  const { calls, run, target } = work;
  const read = await callWithEscalation(
    run,
    () => calls.read.readDocument({ ...target, saleId, record: run.records?.besideDocument(saleId) }),
    tries,
  );
  if (read.recorded) run.records?.keptBeside({ document: read.document });
  return read.document;
}

/**
 * Submits the same document again (POST /v1/sales/{id}/retry). An answer that is lost is looked for in the document before another try;
 * until it is found, the document may have completed, so no cancellation is carried out.
 * @throws CancelledByPerson while it is known to be rejected
 */
export async function retryDocument(work: SaleContext, document: SaleDocument): Promise<SaleDocument> {
  const { calls, run, target } = work;
  const tries = new Tries(run);
  try {
    for (;;) {
      run.documentInDoubt = true;
      const result = await calls.convergingWrite.retryDocument({ ...target, saleId: document.id });
      if (isRefusal(result)) {
        // An answer that fits no rule says nothing of what happened behind it.
        run.documentInDoubt = result.attention === "unexpected-answer";
        await tries.refused(result);
        continue;
      }
      tries.notRefused();
      const seen = await seenBy(work, document, result);
      run.document = seen;
      run.documentInDoubt = false;
      const again = result.kind === "converging" && fateOf(seen) === "failed" && fateOf(document) === "failed";
      if (again) await tries.lost("The resubmission", document.id, (ms) => condition(() => run.cancelDue, ms));
      if (!again || run.cancelDue) return seen;
    }
  } finally {
    tries.notLost();
  }
}

async function seenBy(
  work: SaleContext,
  document: SaleDocument,
  result: Exclude<RetryDocumentResult, { kind: "refused" }>,
): Promise<SaleDocument> {
  switch (result.kind) {
    case "document":
      return result.document;
    case "rejected":
      return result.document ?? { ...document, status: "failed", error: result.message };
    case "converging":
      return await readDocument(work, document.id);
  }
}
