import type { RefundReason } from "../contract/codes.ts";
import { composeBody, type ComposedRequest } from "./composed-request.ts";
import type { ComplianceDialect } from "./dialect.ts";
import { type KeyReach, placeBusinessId } from "./key-reach.ts";
import { operation } from "./operations.ts";

export interface CreditNoteComposition {
  businessId?: string | undefined;
  /** The credit note's own number, at most 50 characters. */
  traderInvoiceNumber: string;
  /** `YYYY-MM-DD`. */
  returnDate: string;
  /** The accepted sale to reverse. */
  saleId: string;
  reason: RefundReason;
  callbackUrl?: string | undefined;
}

/**
 * POST /v1/credit-notes (Fiscal Compliance API, the section of that name). Pure: the same input gives the same bytes.
 *
 * @throws ComplianceInputError
 */
export function composeCreditNote(
  dialect: ComplianceDialect,
  keyReach: KeyReach,
  input: CreditNoteComposition,
): ComposedRequest {
  const business = placeBusinessId(keyReach, input.businessId, dialect.creditNote.businessIdIn);
  const { traderInvoiceNumber, returnDate, saleId, reason, callbackUrl } = input;
  const body = { ...business.body, traderInvoiceNumber, returnDate, saleId, reason, callbackUrl };
  return {
    method: "POST",
    path: operation("createCreditNote").path,
    query: business.query,
    bodyJson: composeBody(body),
  };
}
