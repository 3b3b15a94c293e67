import { defineSearchAttributeKey, type SearchAttributeUpdatePair } from "@temporalio/common";
import { upsertSearchAttributes, workflowInfo } from "@temporalio/workflow";

import { type Attention, MEANING, type Mend, SEARCH_ATTRIBUTES } from "../../src/contract/index.ts";

export const businessAttribute = defineSearchAttributeKey(SEARCH_ATTRIBUTES.business, "KEYWORD");
export const invoiceAttribute = defineSearchAttributeKey(SEARCH_ATTRIBUTES.invoice, "KEYWORD");
export const attentionAttribute = defineSearchAttributeKey(SEARCH_ATTRIBUTES.attention, "KEYWORD");

/** Characters. Temporal keeps 20,000 bytes of details; the `state` query has all of it. */
const MOST_EVIDENCE = 1_500;

/** Sets those that changed: each change is an event. */
export function publishAttributes(wanted: readonly { key: typeof businessAttribute; value: string | null }[]): void {
  const known = workflowInfo().typedSearchAttributes;
  const changed = wanted.filter((pair) => (known.get(pair.key) ?? null) !== pair.value);
  if (changed.length > 0) upsertSearchAttributes(changed satisfies SearchAttributeUpdatePair[]);
}

/** What is wrong, what is known of it, and which update with which JSON mends it. */
export function needsAPerson(attention: Attention): string {
  const updates = attention.resolvedBy.map(
    (mend) => `Update \`${mend}\` with\n\n\`\`\`json\n${JSON.stringify(examplePayload(mend, attention))}\n\`\`\``,
  );
  return [
    `### Needs a person: ${attention.code}`,
    `${MEANING[attention.code]}. ${quoted(attention.message)}`,
    ...evidenceOf(attention),
    ...updates,
  ].join("\n\n");
}

/** What is known, as data: a person decides by it. Its line breaks are escaped, so that nothing in it can end the block. */
function evidenceOf({ evidence }: Attention): string[] {
  if (!evidence || Object.keys(evidence).length === 0) return [];
  const lines = Object.entries(evidence).map(([name, value]) => `${name}: ${JSON.stringify(value) ?? ""}`);
  return [`\`\`\`\n${lines.join("\n").slice(0, MOST_EVIDENCE)}\n\`\`\``];
}

/** Other people's words on one line and with nothing in them that Markdown obeys: they must not look like an attention of ours. */
export function quoted(words: string): string {
  return words.replace(/\s+/g, " ").replace(/[\\`*_#<>[\]|]/g, "\\$&");
}

function examplePayload(mend: Mend, attention: Attention): Record<string, unknown> {
  const note = "how you know, in a few words";
  const subject = attention.subject === undefined ? {} : { subject: attention.subject };
  switch (mend) {
    case "retry":
      return { note: "what was mended" };
    case "cancel":
      return { reason: "why" };
    case "resolveStock":
      return { referenceId: attention.subject, applied: true, note };
    case "resolveDocument":
      return { saleId: 'the document\'s id, or write "notCreated": true in its place', note };
    case "resolveBatch":
      return { processed: true, note };
    case "acknowledge":
      return { code: attention.code, ...subject, note };
  }
}
