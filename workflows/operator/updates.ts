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
  type RetryRequest,
  SEARCH_ATTRIBUTES,
  UPDATES,
} from "../../src/contract/index.ts";
import type { AttentionList } from "./attention-list.ts";

export const businessAttribute = defineSearchAttributeKey(SEARCH_ATTRIBUTES.business, "KEYWORD");
export const invoiceAttribute = defineSearchAttributeKey(SEARCH_ATTRIBUTES.invoice, "KEYWORD");
export const attentionAttribute = defineSearchAttributeKey(SEARCH_ATTRIBUTES.attention, "KEYWORD");

/** Sets those that changed: each change is an event. */
export function publishAttributes(wanted: readonly { key: typeof businessAttribute; value: string | null }[]): void {
  const known = workflowInfo().typedSearchAttributes;
  const changed = wanted.filter((pair) => (known.get(pair.key) ?? null) !== pair.value);
  if (changed.length > 0) upsertSearchAttributes(changed satisfies SearchAttributeUpdatePair[]);
}

/** How long an operator's update waits to tell what came of it. */
export const REPLY_WITHIN = "5 seconds";
export const REPLY_SUMMARY = "An operator waits to hear what came of an update";

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
      'Try again what the attention is about, after correcting it. Takes {} or {"note", "code"?, "subject"?, "by"?}.',
    validator: (message?) => checkRetry(run, message),
  });

  setHandler(acknowledgeUpdate, (request) => actAndReply(() => run.acknowledge(request), "Acknowledged."), {
    description: 'Take note of what cannot be corrected here. Takes {"code", "note", "subject"?, "by"?}.',
    validator: (message) => checkAcknowledge(run, message),
  });
}

/** Validates the update `retry`. */
export function checkRetry(run: AttentionList, message: unknown): void {
  const request = checkedObject(run, message, ["note", "by", "code", "subject"]);
  const waiting = run.attentions.filter((attention) => attention.resolvedBy.includes("retry"));
  const { code, subject } = request;
  if (run.meansAutomaticTry(request)) return;
  if (waiting.length === 0 && !run.bringForward) notAllowed(run, "Nothing here waits for a retry.");
  const meant = (one: Attention): boolean =>
    (code === undefined || one.code === code) && (subject === undefined || one.subject === subject);
  const target = [code, subject].filter((part) => typeof part === "string").join(" ");
  if (!waiting.some(meant)) notAllowed(run, `Nothing waits for a retry of ${target}.`);
}

/** Validates the update `acknowledge`. */
export function checkAcknowledge(run: AttentionList, message: unknown): void {
  const request = checkedObject(run, message, ["code", "subject", "note", "by"]);
  requireText(run, request, "note");
  const meant = run.attentions.filter((one) => one.code === request["code"] && one.resolvedBy.includes("acknowledge"));
  if (meant.length === 0) {
    notAllowed(run, `Nothing with the code ${String(request["code"])} waits to be acknowledged.`);
  }
  if (request["subject"] !== undefined && !meant.some((one) => one.subject === request["subject"])) {
    notAllowed(run, `That subject is not among: ${meant.map((one) => one.subject ?? "none").join(", ")}.`);
  }
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
