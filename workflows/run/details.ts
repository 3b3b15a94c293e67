import { type Attention, MEANING, type Mend } from "../../src/contract/index.ts";
import type { Run } from "./run.ts";

/** Characters. Temporal keeps 20,000 bytes of details; the `state` query has all of it. */
const MOST_EVIDENCE = 1_500;

/** What Temporal's UI shows under User Metadata, as Markdown: where the run stands, and which update with which JSON mends it. */
export function detailsOf(run: Run): string {
  const document = run.document;
  const paragraphs = [
    `**Stage:** ${run.stage}${document ? ` · document \`${document.id}\` is \`${document.status}\`` : ""}`,
    `**Waits for:** ${run.waitingFor}`,
  ];
  if (run.cancelRequested !== undefined && run.stage !== "cancelled") {
    const answer = run.settled
      ? "The document was completed all the same: reverse it with the update `refund`."
      : "It is a wish until the document's fate is known.";
    paragraphs.push(`**Cancellation asked for:** ${quoted(run.cancelRequested)}. ${answer}`);
  }
  if (run.creditNoteWorkflowId) paragraphs.push(`**Credit note:** workflow \`${run.creditNoteWorkflowId}\``);
  if (run.creditNoteAttention) {
    paragraphs.push(
      `The credit note needs a person (\`${run.creditNoteAttention}\`); it is mended in its own workflow.`,
    );
  }
  const stock = run.movements.map(
    (movement) =>
      `- \`${movement.referenceId}\`: ${movement.action} ${movement.quantity} of \`${movement.itemId}\`, ${movement.state}`,
  );
  if (stock.length > 0) paragraphs.push(`**Stock movements**\n\n${stock.join("\n")}`);
  return [...paragraphs, ...run.attentions.map(needsAPerson)].join("\n\n");
}

/** What is wrong, what is known of it, and which update with which JSON mends it. */
export function needsAPerson(attention: Attention): string {
  const updates = attention.mendedBy.map(
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
function quoted(words: string): string {
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
