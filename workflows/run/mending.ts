import { setHandler } from "@temporalio/workflow";

import type { Attention, JobReply } from "../../src/contract/index.ts";
import type { Attended } from "./attended.ts";
import { acknowledgeUpdate, retryUpdate } from "./message-definitions.ts";
import { checkedObject, notAllowed, requireText } from "./not-allowed.ts";

/**
 * The two updates that every run takes. Validators are synchronous: Temporal ignores asynchronous ones without a word.
 * @param replying acts, and tells what came of it
 */
export function wireMending(run: Attended, replying: (act: () => unknown, done: string) => Promise<JobReply>): void {
  setHandler(retryUpdate, (request) => replying(() => run.countRetry(request ?? {}), "Trying again."), {
    description:
      'Try again what the attention is about, after mending it. Takes {} or {"note", "code"?, "subject"?, "by"?}.',
    validator: (message?) => {
      const request = checkedObject(run, message, ["note", "by", "code", "subject"]);
      const waiting = run.attentions.filter((attention) => attention.mendedBy.includes("retry"));
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
        (one) => one.code === request["code"] && one.mendedBy.includes("acknowledge"),
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
