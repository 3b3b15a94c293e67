import { type Attention, MEANING, type Mend, type StockMovement } from "../../src/contract/index.ts";
import type { Run } from "./run.ts";

/** Characters. Temporal keeps 20,000 bytes of details; the `state` query has all of it. */
const MOST_EVIDENCE = 1_500;
/** Movements that are listed: they must leave room for what needs a person, which comes after them. */
const MOST_MOVEMENTS = 20;

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
  if (run.movements.length > 0) paragraphs.push(`**Stock movements**\n\n${stockLines(run.movements).join("\n")}`);
  return [...paragraphs, ...run.attentions.map(needsAPerson)].join("\n\n");
}

/** Of many movements only those that are neither done nor still to come; the others are counted. */
function stockLines(movements: readonly StockMovement[]): string[] {
  const isNotable = ({ state }: StockMovement): boolean => state !== "planned" && state !== "applied";
  const notable = movements.length > MOST_MOVEMENTS ? movements.filter(isNotable) : movements;
  const shown = notable.slice(0, MOST_MOVEMENTS);
  const lines = shown.map(
    ({ referenceId, action, quantity, itemId, state }) =>
      `- \`${referenceId}\`: ${action} ${quantity} of \`${itemId}\`, ${state}`,
  );
  if (shown.length === movements.length) return lines;
  const others = new Map<string, number>();
  for (const { state } of movements) others.set(state, (others.get(state) ?? 0) + 1);
  for (const { state } of shown) others.set(state, (others.get(state) ?? 0) - 1);
  const counts = [...others].flatMap(([state, count]) => (count > 0 ? [`${count} ${state}`] : []));
  return [...lines, `- ${shown.length > 0 ? "others: " : ""}${counts.join(", ")}`];
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
