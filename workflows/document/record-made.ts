import type { RecordDocumentRequest } from "../../src/contract/index.ts";
import { ledger } from "../proxies.ts";
import { park } from "../run/park.ts";
import type { Run } from "../run/run.ts";

/**
 * Keeps the id of a document that was made while the ledger was away. Where a credit note of another sale came to bear its number
 * meanwhile, both exist: only a person can put that right.
 */
export async function recordMade(run: Run, request: RecordDocumentRequest): Promise<void> {
  const recorded = await ledger.recordDocument(request);
  if (recorded?.numberTaken === undefined) return;
  const message = `${recorded.numberTaken} Both were issued while the ledger was away, which keeps one of them. Where both were to give goods back, only one did: count the stock.`;
  const evidence = { documentId: request.documentId };
  await park(run, { code: "mismatch", subject: "traderInvoiceNumber", message, evidence });
}
