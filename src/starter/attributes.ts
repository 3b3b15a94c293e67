import type { WorkflowExecutionInfo } from "@temporalio/client";

import { NO_BUSINESS } from "../contract/ids.ts";
import { keywordValue, SEARCH_ATTRIBUTES } from "../contract/names.ts";
import type { SaleKey } from "./sale-key.ts";

/** The search attributes of a listed workflow by name, as text. */
export function attributesOf({
  typedSearchAttributes,
}: Pick<WorkflowExecutionInfo, "typedSearchAttributes">): ReadonlyMap<string, string> {
  return new Map(typedSearchAttributes.getAll().map(({ key, value }) => [key.name, String(value)]));
}

/** What a list finds the workflow of a sale by, from its start. */
export function attributesOfSale({ invoice, businessId }: SaleKey, stage?: string) {
  const { business, invoice: number, stage: stands } = SEARCH_ATTRIBUTES;
  const values = [
    [business, businessId ?? NO_BUSINESS],
    [number, keywordValue(invoice)],
    ...(stage === undefined ? [] : [[stands, stage] as const]),
  ] as const;
  return values.map(([name, value]) => ({ key: { name, type: "KEYWORD" as const }, value }));
}
