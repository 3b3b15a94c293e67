import type { Branch } from "../contract/calls.ts";
import type { CustomerInput } from "../contract/schema/sale.ts";
import { branchField } from "./branch-selector.ts";
import { composeBody, type ComposedRequest, underNames } from "./composed-request.ts";
import type { ComplianceDialect } from "./dialect.ts";
import { type KeyReach, placeBusinessId } from "./key-reach.ts";

export interface CreateSaleInput {
  businessId?: string | undefined;
  traderInvoiceNumber: string;
  /** `YYYY-MM-DD`. */
  saleDate?: string | undefined;
  paymentTypeCode?: string | undefined;
  customer?: CustomerInput | undefined;
  lines: readonly { itemId: string; quantity: number; unitPrice: number }[];
  branch?: Branch | undefined;
  callbackUrl?: string | undefined;
}

/**
 * POST /v1/sales. The document names the operation and does not show its shape: every name comes from the dialect.
 * Pure: the same input gives the same bytes.
 *
 * @throws ComplianceInputError
 */
export function composeCreateSale(
  dialect: ComplianceDialect,
  keyReach: KeyReach,
  input: CreateSaleInput,
): ComposedRequest {
  const { path, businessIdIn, fields, lineFields, customerFields, branchBy } = dialect.createSale;
  const { branch: branchName, ...names } = fields;
  const business = placeBusinessId(keyReach, input.businessId, businessIdIn);
  const customer = underNames(customerFields, input.customer ?? {});
  const body = {
    ...business.body,
    ...underNames(names, {
      traderInvoiceNumber: input.traderInvoiceNumber,
      saleDate: input.saleDate,
      paymentTypeCode: input.paymentTypeCode,
      customer: Object.keys(customer).length === 0 ? undefined : customer,
      lines: input.lines.map(({ itemId, quantity, unitPrice }) =>
        underNames(lineFields, { itemId, quantity, unitPrice }),
      ),
      callbackUrl: input.callbackUrl,
    }),
    ...branchField(branchName, branchBy, input.branch),
  };
  return { method: "POST", path, query: business.query, bodyJson: composeBody(body) };
}
