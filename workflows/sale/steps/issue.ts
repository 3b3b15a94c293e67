import type { ExpectedDocument, PreparedSale } from "../../../src/contract/index.ts";
import { type Created, createDocument } from "../../document/create-document.ts";
import { compareDocument } from "../../document/known-document.ts";
import { main } from "../../proxies.ts";
import { invalidInput } from "../../sdk/interceptors.ts";
import type { SaleContext } from "../state.ts";
import type { ResolvedLines } from "./items.ts";

/** Issues the sale: one document for its number, whatever happens on the way. */
export async function issueSale(
  context: SaleContext,
  { sale, composed }: PreparedSale,
  { lines }: ResolvedLines,
): Promise<Created> {
  const { run, calls, profile, target, branch } = context;
  const { traderInvoiceNumber, saleDate, paymentTypeCode, customer, callback = "auto" } = sale;
  const content = { traderInvoiceNumber, saleDate, paymentTypeCode, customer, lines, branch };
  const { saleKey } = profile;
  const isKeyed = saleKey === "trusted";
  const writes = isKeyed ? calls.keyedWrite : calls.unrepeatableWrite;
  const asked = { ...target, ...content, callback, workflowId: run.workflowId };
  run.moveTo("submitting", "the answer to the sale's creation");
  return await createDocument(context, {
    step: "sale",
    content: run.fingerprint ?? traderInvoiceNumber,
    expected: { type: "sale", traderInvoiceNumber, customerPin: customer?.pin ?? null, lines },
    composed,
    compose: () => main.composeSale("Write the sale's request", asked),
    isKeyed,
    send: (request) => writes.createSale(`Issue the sale ${traderInvoiceNumber}`, { ...target, ...request, saleKey }),
  });
}

/**
 * Takes on a sale that was issued elsewhere. It must be a sale with this number, and these lines where they are given:
 * anything else is a mistake in the input, which nobody can correct here.
 * @throws ApplicationFailure InvalidInput
 */
export async function adoptSale(
  context: SaleContext,
  saleId: string,
  prepared: PreparedSale,
  resolved?: ResolvedLines,
): Promise<Created> {
  context.run.moveTo("submitting", "the sale that was issued elsewhere");
  const expected: ExpectedDocument = {
    type: "sale",
    traderInvoiceNumber: prepared.sale.traderInvoiceNumber,
    ...(resolved && { lines: resolved.lines }),
  };
  const { document, differences } = await compareDocument(context, saleId, { expected, mayBeAnothers: true });
  if (!differences) return { document, callbackExpected: false };
  throw invalidInput("sale input", [`saleId: ${saleId} is not this sale: ${differences.join("; ")}`]);
}
