import type { Branch, Composed, PreparedSale } from "../../src/contract/index.ts";
import { createDocument, type Created } from "../document/create-document.ts";
import type { Work } from "../document/work.ts";
import { main } from "../proxies.ts";
import type { ResolvedLines } from "./resolve-items.ts";

/** Issues the sale: one document for its number, whatever happens on the way. */
export async function issueSale(
  work: Work,
  { sale, composed }: PreparedSale,
  { lines }: ResolvedLines,
  branch: Branch | undefined,
): Promise<Created> {
  const { run, calls, profile, target } = work;
  const { traderInvoiceNumber, saleDate, paymentTypeCode, customer, callback = "auto" } = sale;
  const content = { traderInvoiceNumber, saleDate, paymentTypeCode, customer, lines, branch };
  const writes = profile.saleKey === "trusted" ? calls.keyedWrite : calls.unrepeatableWrite;
  let atOnce = composed;
  const compose = async (): Promise<Composed> => {
    const first = atOnce;
    // Another intent is composed anew: configuration may have been mended meanwhile.
    atOnce = undefined;
    return first ?? (await main.composeSale({ ...target, ...content, callback, workflowId: run.workflowId }));
  };
  run.moveTo("submitting", "the answer to the sale's creation");
  return await createDocument(work, {
    step: "sale",
    claim: run.workflowId,
    content: run.fingerprint ?? traderInvoiceNumber,
    expected: { type: "sale", traderInvoiceNumber, customerPin: customer?.pin ?? null, lines },
    compose,
    send: (request) => writes.createSale({ ...target, ...request }),
  });
}
