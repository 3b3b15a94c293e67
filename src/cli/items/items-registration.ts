import {
  type ItemOutcome,
  registerItemsWorkflowId,
  type RegisterItemsOutcome,
  type RegistrationProgress,
  WORKFLOW_TYPES,
} from "../../contract/index.ts";
import type { JobCommand } from "../jobs/job-command.ts";

export const itemsRegistration: JobCommand<RegistrationProgress, RegisterItemsOutcome> = {
  workflow: WORKFLOW_TYPES.registerItems,
  noun: "registration",
  group: "items",
  workflowId: registerItemsWorkflowId,
  progressLine: ({ total, counts }) => {
    const done = Object.values(counts).reduce((sum, count) => sum + count, 0);
    return `${done} of ${total ?? "?"} items: ${countsText(counts)}`;
  },
  resultText,
  inAFewWords: ({ counts }) => countsText(counts),
};

function resultText(outcome: RegisterItemsOutcome): string {
  const { counts, needsData, refused, unknown, unclear } = outcome;
  const left = (["needs-data", "refused", "unknown", "unclear"] as const).reduce((sum, kind) => sum + counts[kind], 0);
  const listed = [...needsData, ...refused, ...unknown, ...unclear];
  const lines = [countsText(counts), ...listed.map(outcomeLine)];
  if (left > listed.length) lines.push(`… and ${left - listed.length} more: fiscalflow items report`);
  if (left > 0)
    lines.push("Correct these in the API's dashboard, then run it again: what is registered is passed over.");
  return lines.join("\n");
}

function countsText(counts: RegisterItemsOutcome["counts"]): string {
  const words = Object.entries(counts).flatMap(([kind, count]) =>
    count > 0 ? [`${count} ${count === 1 && kind === "needs-data" ? "lacks data" : (WORDS[kind] ?? kind)}`] : [],
  );
  return words.join(", ") || "nothing yet";
}

const WORDS: Readonly<Record<string, string>> = {
  registered: "registered",
  "registered-already": "registered already",
  "needs-data": "lack data",
  refused: "refused",
  unknown: "unknown",
  unclear: "unclear",
};

/** `SOAP-1 (Bar soap): lacks classificationMapping` */
export function outcomeLine({ kind, item, name, needs, reason }: ItemOutcome): string {
  const what = kind === "needs-data" ? `lacks ${needs?.join(" and ") ?? "data"}` : (WORDS[kind] ?? kind);
  return `${item}${name ? ` (${name})` : ""}: ${what}${reason === undefined ? "" : `: ${reason}`}`;
}
