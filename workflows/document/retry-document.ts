import { condition } from "@temporalio/workflow";

import type { RetryDocumentResult, SaleDocument } from "../../src/contract/index.ts";
import { isRefusal, lostAsConverging } from "../run/answered.ts";
import { LostTries } from "../run/lost-tries.ts";
import { Refusals } from "../run/refusals.ts";
import { fateOf } from "./document-status.ts";
import { readDocument } from "./read-document.ts";
import type { Work } from "./work.ts";

/**
 * Submits the same document again (POST /v1/sales/{id}/retry). An answer that is lost is looked for in the document before another try;
 * until it is found, the document may have completed, so no cancellation is carried out.
 * @throws CancelledByPerson while it is known to be rejected
 */
export async function retryDocument(work: Work, document: SaleDocument): Promise<SaleDocument> {
  const { calls, run, target } = work;
  const refusals = new Refusals(run);
  const lost = new LostTries(run, document.id);
  try {
    for (;;) {
      run.documentInDoubt = true;
      const result = await lostAsConverging(calls.convergingWrite.retryDocument({ ...target, saleId: document.id }));
      if (isRefusal(result)) {
        // An answer that fits no rule says nothing of what happened behind it.
        run.documentInDoubt = result.attention === "unexpected-answer";
        await refusals.park(result);
        continue;
      }
      refusals.over();
      const seen = await documentOf(work, document, result);
      run.document = seen;
      run.documentInDoubt = false;
      const again = result.kind === "converging" && fateOf(seen) === "failed" && fateOf(document) === "failed";
      if (again) await lost.pause("The resubmission", (ms) => condition(() => run.cancelDue, ms));
      if (!again || run.cancelDue) return seen;
    }
  } finally {
    lost.over();
  }
}

async function documentOf(
  work: Work,
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
