import { statesSaleKey } from "../compliance/index.ts";
import type { ComplianceConnection } from "../config/index.ts";

/**
 * What to tell an operator of a connection with a live key that does not say whether the service honours the
 * Idempotency-Key of a sale (Fiscal Compliance API, "POST /v1/credit-notes" alone shows the header). Undefined where
 * nothing is to be told.
 */
export function unstatedSaleKey({
  name,
  environment,
  dialect,
}: Pick<ComplianceConnection, "name" | "environment" | "dialect">): { message: string; todo: string } | undefined {
  if (environment !== "live" || statesSaleKey(dialect)) return undefined;
  const message =
    `connection ${name} has a live key and does not state createSale.idempotencyKey, so "sent" is used: ` +
    "the API's document shows the Idempotency-Key header for credit notes only";
  const todo =
    'ask the provider whether it honours the header on POST /v1/sales, and state it in COMPLIANCE_DIALECT: "trusted" if it does ' +
    '(when an answer is lost, the sale is sent again under the same key), "sent" or "off" if it does not ' +
    "(when an answer is lost, the sale waits for an operator as document-unknown and is never sent again)";
  return { message, todo };
}
