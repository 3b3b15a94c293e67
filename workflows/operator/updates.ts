import { ApplicationFailure, defineUpdate, setHandler } from "@temporalio/workflow";

import {
  type AcknowledgeRequest,
  type Attention,
  FAILURES,
  type JobReply,
  type RetryRequest,
  UPDATES,
} from "../../src/contract/index.ts";
import type { AttentionList } from "./attention-list.ts";

/** How long an operator's update waits to tell what came of it. */
export const REPLY_WITHIN = "5 seconds";

/** Each takes one JSON object or nothing: Temporal's UI sends exactly one payload, which may be left empty. */
const retryUpdate = defineUpdate<JobReply, [RetryRequest?]>(UPDATES.retry);
const acknowledgeUpdate = defineUpdate<JobReply, [AcknowledgeRequest]>(UPDATES.acknowledge);

/**
 * The two updates that every run takes. Validators are synchronous: Temporal ignores asynchronous ones without a word.
 * @param replying acts, and tells what came of it
 */
export function registerOperatorUpdates(
  run: AttentionList,
  replying: (act: () => unknown, done: string) => Promise<JobReply>,
): void {
  setHandler(retryUpdate, (request) => replying(() => run.countRetry(request ?? {}), "Trying again."), {
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
      const asked = [code, subject].filter((part) => typeof part === "string").join(" ");
      if (!waiting.some(meant)) notAllowed(run, `Nothing waits for a retry of ${asked}.`);
    },
  });

  setHandler(acknowledgeUpdate, (request) => replying(() => run.acknowledge(request), "Acknowledged."), {
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

/** The message's object, where it is one with these fields only. Messages come from people's hands, so each is checked. */
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
