import { defineSearchAttributeKey, type SearchAttributeUpdatePair } from "@temporalio/common";
import {
  ApplicationFailure,
  defineUpdate,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from "@temporalio/workflow";

import {
  type AcknowledgeRequest,
  type Attention,
  FAILURES,
  type JobReply,
  MEANING,
  type Mend,
  type RetryRequest,
  SEARCH_ATTRIBUTES,
  UPDATES,
} from "../../src/contract/index.ts";
import type { AttentionList } from "./attention-list.ts";

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

/**
 * What is known, as data: a person decides by it. Its line breaks are escaped, so that nothing in it can end the block.
 */
function evidenceOf({ evidence }: Attention): string[] {
  if (!evidence || Object.keys(evidence).length === 0) return [];
  const lines = Object.entries(evidence).map(([name, value]) => `${name}: ${JSON.stringify(value) ?? ""}`);
  return [`\`\`\`\n${lines.join("\n").slice(0, MOST_EVIDENCE)}\n\`\`\``];
}

/**
 * Other people's words on one line and with nothing in them that Markdown obeys: they must not look like an attention
 * of ours.
 */
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

/** How long an operator's update waits to tell what came of it. */
export const REPLY_WITHIN = "5 seconds";

/** A text that changes with whatever an operator can see that a run waits for. */
export function visibleState({ attentions, waitingFor }: AttentionList): string {
  return JSON.stringify([waitingFor, attentions.map(({ code, subject, sinceMs }) => [code, subject, sinceMs])]);
}

/** Each takes one JSON object or nothing: Temporal's UI sends exactly one payload, which may be left empty. */
const retryUpdate = defineUpdate<JobReply, [RetryRequest?]>(UPDATES.retry);
const acknowledgeUpdate = defineUpdate<JobReply, [AcknowledgeRequest]>(UPDATES.acknowledge);

/**
 * The two updates that every run takes. Validators are synchronous: Temporal ignores asynchronous ones without a word.
 * @param actAndReply acts, and says in the reply what came of it
 */
export function registerOperatorUpdates(
  run: AttentionList,
  actAndReply: (act: () => unknown, done: string) => Promise<JobReply>,
): void {
  setHandler(retryUpdate, (request) => actAndReply(() => run.countRetry(request ?? {}), "Trying again."), {
    description:
      'Try again what the attention is about, after mending it. Takes {} or {"note", "code"?, "subject"?, "by"?}.',
    validator: (message?) => {
      const request = checkedObject(run, message, ["note", "by", "code", "subject"]);
      const waiting = run.attentions.filter((attention) => attention.resolvedBy.includes("retry"));
      const { code, subject } = request;
      if (run.meansAutomaticTry(request)) return;
      if (waiting.length === 0 && !run.bringForward) notAllowed(run, "Nothing here waits for a retry.");
      const meant = (one: Attention): boolean =>
        (code === undefined || one.code === code) && (subject === undefined || one.subject === subject);
      const target = [code, subject].filter((part) => typeof part === "string").join(" ");
      if (!waiting.some(meant)) notAllowed(run, `Nothing waits for a retry of ${target}.`);
    },
  });

  setHandler(acknowledgeUpdate, (request) => actAndReply(() => run.acknowledge(request), "Acknowledged."), {
    description: 'Take note of what cannot be mended here. Takes {"code", "note", "subject"?, "by"?}.',
    validator: (message) => {
      const request = checkedObject(run, message, ["code", "subject", "note", "by"]);
      requireText(run, request, "note");
      const meant = run.attentions.filter(
        (one) => one.code === request["code"] && one.resolvedBy.includes("acknowledge"),
      );
      if (meant.length === 0) {
        notAllowed(run, `Nothing with the code ${String(request["code"])} waits to be acknowledged.`);
      }
      if (request["subject"] !== undefined && !meant.some((one) => one.subject === request["subject"])) {
        notAllowed(run, `That subject is not among: ${meant.map((one) => one.subject ?? "none").join(", ")}.`);
      }
    },
  });
}

/** Refuses a message: what is true, and what the present stage allows. */
export function notAllowed(run: AttentionList, why: string): never {
  throw ApplicationFailure.nonRetryable(`${why} ${run.allowedUpdates}`, FAILURES.notAllowed);
}

/**
 * The message's object, where it is one with these fields only. Messages come from people's hands, so each is checked.
 */
export function checkedObject(
  run: AttentionList,
  message: unknown,
  fields: readonly string[],
): Record<string, unknown> {
  if (message === undefined || message === null) return {};
  if (typeof message !== "object" || Array.isArray(message)) notAllowed(run, "Expected one JSON object.");
  const unknown = Object.keys(message).filter((key) => !fields.includes(key));
  if (unknown.length > 0) notAllowed(run, `Unknown field ${unknown.join(", ")}; expected ${fields.join(", ")}.`);
  return { ...message };
}

export function requireText(run: AttentionList, message: Record<string, unknown>, field: string): void {
  const value = message[field];
  if (typeof value !== "string" || value.trim() === "") {
    notAllowed(run, `Expected the field ${field} with a text in it.`);
  }
}
