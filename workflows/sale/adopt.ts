import { ApplicationFailure } from "@temporalio/workflow";

import { FAILURES, type PreparedSale, type SaleDocument } from "../../src/contract/index.ts";
import { mismatches } from "../document/matching.ts";
import { readDocument } from "../document/read-document.ts";
import type { Work } from "../document/work.ts";
import type { ResolvedLines } from "./resolve-items.ts";

/**
 * Takes on a sale that was issued elsewhere. It must be a sale with this number, and these lines where they are given: anything
 * else is a mistake in the input, which nobody can mend here.
 * @throws ApplicationFailure InvalidInput
 */
export async function adoptSale(
  work: Work,
  saleId: string,
  prepared: PreparedSale,
  resolved?: ResolvedLines,
): Promise<SaleDocument> {
  work.run.moveTo("submitting", "the sale that was issued elsewhere");
  const document = await readDocument(work, saleId);
  const found = mismatches(document, {
    type: "sale",
    traderInvoiceNumber: prepared.sale.traderInvoiceNumber,
    ...(resolved && { lines: resolved.lines }),
  });
  if (found.length === 0) return document;
  const message = `The sale input is not valid:\n  saleId: ${saleId} is not this sale: ${found.join("; ")}`;
  throw ApplicationFailure.nonRetryable(message, FAILURES.invalidInput);
}
