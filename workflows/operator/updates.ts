import { defineSearchAttributeKey } from "@temporalio/common";
import {
  ApplicationFailure,
  CancellationScope,
  condition,
  defineUpdate,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from "@temporalio/workflow";

import {
  type AcknowledgeRequest,
  FAILURES,
  fewOf,
  type RefusalDetails,
  type RetryRequest,
  SEARCH_ATTRIBUTES,
  UPDATES,
} from "../../src/contract/index.ts";
import { invalidInput, whyUnreadable } from "../sdk/interceptors.ts";
import type { AttentionList } from "./attention-list.ts";

/** Sets those that changed: each change is an event. */
export function publishAttributes(wanted: { [Name in keyof typeof SEARCH_ATTRIBUTES]?: string | null }): void {
  const known = workflowInfo().typedSearchAttributes;
  const changed = Object.entries(SEARCH_ATTRIBUTES).flatMap(([name, attribute]) => {
    const key = defineSearchAttributeKey(attribute, "KEYWORD");
    const value = wanted[name as keyof typeof SEARCH_ATTRIBUTES];
    return value === undefined || (known.get(key) ?? null) === value ? [] : [{ key, value }];
  });
  if (changed.length > 0) upsertSearchAttributes(changed);
}

/** What a field holds, in words, with its type. */
const KINDS = { "a text": "string", "true or false": "boolean", "a number": "number" } as const;

type Kind = keyof typeof KINDS;

/**
 * The fields of a request, each with what it holds: `{ note: "a text", "by?": "a text" }`, where `by` may be left out.
 */
type Fields<Request> = {
  readonly [F in keyof Request & string as undefined extends Request[F] ? `${F}?` : F]-?: Kind;
};

/** An update takes one JSON object or nothing: Temporal's UI sends exactly one payload, which may be left empty. */
export interface Update<Run, Request> {
  readonly name: string;
  /** What it is for, in a sentence. */
  readonly purpose: string;
  readonly takes: Fields<Request>;
  /**
   * Why the run as it stands does not take it. Synchronous: Temporal ignores asynchronous validators without a word.
   */
  refusedBecause(run: Run, request: Request): string | undefined;
  /** Returns a reply of its own. Without one, the reply says what came of it. */
  act(run: Run, request: Request): Promise<object> | void;
  /** What the reply begins with that says what came of it. */
  readonly done?: string;
  /** What is told of one that the run has to keep for later. */
  kept?(run: Run): string;
}

export type UpdateTable<Run> = readonly Update<Run, object>[];

/** A sale has a stage, and so has a correction; a document's run keeps the error that it ends with for its callers. */
type Operated = AttentionList & {
  readonly stage?: string;
  readonly settled?: boolean;
  readonly failure?: unknown;
  readonly isCheckingCancel?: boolean;
};

const retry: Update<AttentionList, RetryRequest> = {
  name: UPDATES.retry,
  purpose: "Try again what the attention is about, after correcting it.",
  takes: { "note?": "a text", "code?": "a text", "subject?": "a text", "by?": "a text" },
  refusedBecause(run, request) {
    if (run.meansAutomaticTry(request) || run.resolvableBy("retry", request).length > 0) return undefined;
    const named = [request.code, request.subject].filter((part) => part !== undefined).join(" ");
    return named === "" ? "Nothing here waits for a retry." : `Nothing waits for a retry of ${named}.`;
  },
  act: (run, request) => run.countRetry(request),
  done: "Trying again.",
};

const acknowledge: Update<AttentionList, AcknowledgeRequest> = {
  name: UPDATES.acknowledge,
  purpose: "Take note of what cannot be corrected here.",
  takes: { code: "a text", "subject?": "a text", note: "a text", "by?": "a text" },
  refusedBecause(run, { code, subject }) {
    const meant = run.resolvableBy("acknowledge", { code });
    if (meant.length === 0) return `Nothing with the code ${code} waits to be acknowledged.`;
    if (subject === undefined || meant.some((one) => one.subject === subject)) return undefined;
    return `That subject is not among: ${meant.map((one) => one.subject ?? "none").join(", ")}.`;
  },
  act: (run, request) => run.acknowledge(request),
  done: "Acknowledged.",
};

/** The updates that every run takes. */
export const COMMON_UPDATES: UpdateTable<AttentionList> = [retry, acknowledge];

/** To be called before the first await: an early message finds its handler. */
export function registerUpdates<Run extends Operated>(run: Run, table: UpdateTable<Run>): void {
  run.takes = new Set(table.map(({ name }) => name));
  for (const update of table) {
    const fields = Object.entries<string>({ ...update.takes }).map(([field, kind]) => `${field}: ${kind}`);
    setHandler(defineUpdate<object, [object?]>(update.name), (request) => actAndReply(run, update, request ?? {}), {
      description: `${update.purpose} Takes {${fields.join(", ")}}.`,
      validator: (message?) => checkUpdate(run, update, message),
    });
  }
}

/**
 * @throws ApplicationFailure `NotAllowed`: what is true, and what the run takes as it stands; `InvalidInput` where the
 * message cannot be read at all
 */
export function checkUpdate<Run extends AttentionList>(run: Run, update: Update<Run, object>, message?: unknown): void {
  const unreadable = whyUnreadable("update", message);
  if (unreadable !== undefined) throw invalidInput(`message ${update.name}`, [unreadable]);
  const request = message ?? {};
  const why = malformed(request, update.takes) ?? update.refusedBecause(run, request);
  if (why === undefined) return;
  const { stands, updates: allowed } = run.allowed;
  const words = `${why} ${stands}; allowed updates: ${allowed.join(", ") || "none"}.`;
  throw ApplicationFailure.nonRetryable(words, FAILURES.notAllowed, { allowed } satisfies RefusalDetails);
}

/** What is wrong with the request itself: it comes from people's hands. */
function malformed(request: object, takes: Readonly<Record<string, Kind>>): string | undefined {
  if (typeof request !== "object" || Array.isArray(request) || ArrayBuffer.isView(request))
    return "Expected one JSON object.";
  const given = new Map<string, unknown>(Object.entries(request));
  const fields = Object.keys(takes);
  const unknown = [...given.keys()].filter((field) => !fields.includes(field) && !fields.includes(`${field}?`));
  if (unknown.length > 0) return `Unknown field ${fewOf(unknown).join(", ")}; expected ${fields.join(", ")}.`;
  for (const [field, kind] of Object.entries(takes)) {
    const required = !field.endsWith("?");
    const name = field.replace("?", "");
    const value = given.get(name);
    if (!required && value === undefined) continue;
    if (typeof value !== KINDS[kind] || (required && String(value).trim() === ""))
      return `Expected the field ${name} with ${kind} in it.`;
  }
  return undefined;
}

/** Of a cancellation that waits for what becomes of the document. */
export const KEPT_AS_WISH = "It is kept as a wish until the document's fate is known.";

/** How long an operator's update waits to tell what came of it. */
const REPLY_WITHIN = "5 seconds";

/**
 * Acts, waits a little for what comes of it, and says so in the reply. A cancellation that cannot be carried out yet is
 * not waited for. Not cancellable: update handlers run in the root scope, so cancelling the workflow would otherwise
 * fail the operator's update.
 */
function actAndReply<Run extends Operated>(run: Run, update: Update<Run, object>, request: object): Promise<object> {
  return CancellationScope.nonCancellable(async () => {
    const visible = (): string => {
      const needs = run.attentions.map(({ code, subject, sinceMs }) => [code, subject, sinceMs]);
      return JSON.stringify([run.stage, run.waitingFor, needs]);
    };
    const before = visible();
    const reply = update.act(run, request);
    if (reply) return await reply;
    const cancelPending = (): boolean => run.cancelRequested !== undefined && !run.cancelDue;
    // What is read before a cancellation may need an operator itself.
    const isCancelling = (): boolean => run.cancelDue || (run.isCheckingCancel === true && run.attentions.length === 0);
    const followed = (): boolean =>
      run.failure !== undefined || (isCancelling() ? run.settled === true : visible() !== before);
    if (!cancelPending())
      await condition(followed, REPLY_WITHIN, { summary: "An operator waits to hear what came of an update" });
    const kept = cancelPending() ? ` ${update.kept?.(run) ?? KEPT_AS_WISH}` : "";
    const { stage, waitingFor } = run;
    const [attention] = run.attentions;
    const message = `${update.done ?? ""}${kept} ${stage === undefined ? "It" : `Stage ${stage};`} waits for ${waitingFor}.`;
    return { message, ...(stage !== undefined && { stage }), ...(attention && { attention: attention.code }) };
  });
}
