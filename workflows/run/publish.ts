import { defineSearchAttributeKey, type SearchAttributeUpdatePair } from "@temporalio/common";
import { setCurrentDetails, upsertSearchAttributes, workflowInfo } from "@temporalio/workflow";

import { keywordValue, NO_BUSINESS, SEARCH_ATTRIBUTES } from "../../src/contract/index.ts";
import { detailsOf } from "./details.ts";
import type { Run } from "./run.ts";

export const businessAttribute = defineSearchAttributeKey(SEARCH_ATTRIBUTES.business, "KEYWORD");
export const invoiceAttribute = defineSearchAttributeKey(SEARCH_ATTRIBUTES.invoice, "KEYWORD");
const saleId = defineSearchAttributeKey(SEARCH_ATTRIBUTES.saleId, "KEYWORD");
const stage = defineSearchAttributeKey(SEARCH_ATTRIBUTES.stage, "KEYWORD");
export const attentionAttribute = defineSearchAttributeKey(SEARCH_ATTRIBUTES.attention, "KEYWORD");

/** Shows the run to whoever looks: current details always, search attributes where they changed (each change is an event). */
export function publishRun(run: Run): void {
  setCurrentDetails(detailsOf(run));
  publishAttributes([
    { key: businessAttribute, value: run.businessId ?? NO_BUSINESS },
    { key: invoiceAttribute, value: keywordValue(run.invoice) },
    { key: saleId, value: saleIdOf(run) },
    { key: stage, value: run.stage },
    { key: attentionAttribute, value: run.attentions[0]?.code ?? null },
  ]);
}

/** Sets those that changed: each change is an event. */
export function publishAttributes(wanted: readonly { key: typeof businessAttribute; value: string | null }[]): void {
  const known = workflowInfo().typedSearchAttributes;
  const changed = wanted.filter((pair) => (known.get(pair.key) ?? null) !== pair.value);
  if (changed.length > 0) upsertSearchAttributes(changed satisfies SearchAttributeUpdatePair[]);
}

/** On a credit note it is the sale that it reverses. */
function saleIdOf(run: Run): string | null {
  const id = run.workflow === "sale" ? run.document?.id : run.reversedSaleId;
  return id === undefined ? null : keywordValue(id);
}
