import type { SearchAttributePair } from "@temporalio/common";
import { defineSearchAttributeKey } from "@temporalio/common";

import {
  DEFAULT_CONNECTION,
  fingerprintOf,
  keywordValue,
  NO_BUSINESS,
  type SaleContent,
  saleContent,
  type SaleInput,
  saleWorkflowId,
  SEARCH_ATTRIBUTES,
} from "../contract/index.ts";
import { parseInput, saleInputSchema } from "../contract/schema/index.ts";

/** Everything that a start needs, made from the caller's input. */
export interface SaleStart {
  workflowId: string;
  input: SaleInput;
  fingerprint: string;
  memo: { fingerprint: string; content: SaleContent };
  searchAttributes: SearchAttributePair[];
  summary: string;
}

/** The default business of each connection with an organisation-wide key, or the name of a bound key's business. */
export type DefaultBusinesses = Readonly<Record<string, string | undefined>>;

/** @throws InvalidInputError */
export function saleStart(input: unknown, businesses: DefaultBusinesses): SaleStart {
  const sale = parseInput<SaleInput>(saleInputSchema, input, "sale input");
  const connection = sale.connection ?? DEFAULT_CONNECTION;
  // Filled in before the id is made: the same sale must get the same id, however its business was named.
  const businessId = sale.businessId ?? businesses[connection];
  const content = saleContent(sale, businessId);
  const fingerprint = fingerprintOf(content);
  const { traderInvoiceNumber } = sale;
  const attribute = (name: string, value: string): SearchAttributePair => ({
    key: defineSearchAttributeKey(name, "KEYWORD"),
    value: keywordValue(value),
  });
  return {
    workflowId: saleWorkflowId({ connection, businessId, traderInvoiceNumber }),
    input: { ...sale, ...(businessId !== undefined && { businessId }) },
    fingerprint,
    memo: { fingerprint, content },
    searchAttributes: [
      attribute(SEARCH_ATTRIBUTES.business, businessId ?? NO_BUSINESS),
      attribute(SEARCH_ATTRIBUTES.invoice, traderInvoiceNumber),
      attribute(SEARCH_ATTRIBUTES.stage, "resolving-items"),
    ],
    summary: `Sale ${traderInvoiceNumber}${businessId === undefined ? "" : ` of ${businessId}`} (${connection})`,
  };
}
