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
  type Attention,
  FAILURES,
  fewOf,
  type FieldForm,
  isCalendarDate,
  MEANING,
  type MessageForm,
  nairobiAndUtcTime,
  plainJson,
  plainLine,
  type RefusalDetails,
  SEARCH_ATTRIBUTES,
  type ServiceTrouble,
  troubleInWords,
  UPDATE_FORMS,
  type UpdateExample,
  updateExamples,
  type UpdateName,
  type UpdateRequests,
  unfilledFields,
  whatToDo,
} from "../../src/contract/index.ts";
import { showStalledActivitiesIn } from "../proxies.ts";
import { invalidInput, whyUnreadable } from "../sdk/interceptors.ts";
import type { AttentionList } from "./attention-list.ts";

/** The handler of an update. Its form, and what it is for, `src/contract/updates.ts` declares. */
export interface Update<Run, Name extends UpdateName = UpdateName> {
  readonly name: Name;
  /** Synchronous: Temporal ignores asynchronous validators without a word. */
  refusedBecause(run: Run, request: UpdateRequests[Name]): string | undefined;
  /** Returns a reply of its own. Without one, the reply says what came of it. */
  act(run: Run, request: UpdateRequests[Name]): Promise<object> | void;
  readonly done?: string;
  /** The answer waits until the ledger has it: a caller with an answer need not ask again, also if the run ends. */
  readonly isNoted?: true;
  /** What is told of one that the run has to keep for later. */
  kept?(run: Run): string;
  about?(run: Run): Cancelled;
}

export type Cancelled = AttentionList & { readonly settled?: boolean; readonly isCheckingCancel?: boolean };

export type UpdateTable<Run> = readonly Update<Run>[];

/** A sale has a stage; it keeps the error that it ends with for its callers, and notes in the ledger what it is told. */
type Operated = Cancelled & { readonly stage?: string; readonly failure?: unknown; readonly isNoted?: boolean };

export const retry: Update<AttentionList, "retry"> = {
  name: "retry",
  refusedBecause(run, request) {
    if (run.meansAutomaticTry(request) || run.resolvableBy("retry", request).length > 0) return undefined;
    const named = [request.code, request.subject].filter((part) => part !== undefined).join(" ");
    return named === "" ? "Nothing here waits for a retry." : `Nothing waits for a retry of ${named}.`;
  },
  act: (run, request) => run.countRetry(request),
  done: "Trying again.",
};

export const acknowledge: Update<AttentionList, "acknowledge"> = {
  name: "acknowledge",
  refusedBecause(run, { code, subject }) {
    const meant = run.resolvableBy("acknowledge", { code });
    if (meant.length === 0) return `Nothing with the code ${code} waits to be acknowledged.`;
    if (subject === undefined || meant.some((one) => one.subject === subject)) return undefined;
    return `That subject is not among: ${meant.map((one) => one.subject ?? "none").join(", ")}.`;
  },
  act: (run, request) => run.acknowledge(request),
  done: "Acknowledged.",
  isNoted: true,
};

export const COMMON_UPDATES: UpdateTable<AttentionList> = [retry, acknowledge];

/** To be called before the first await: an early message finds its handler. */
export function registerUpdates<Run extends Operated>(run: Run, table: UpdateTable<Run>): void {
  run.takes = new Set(table.map(({ name }) => name));
  showStalledActivitiesIn(run);
  for (const update of table) {
    const form = UPDATE_FORMS[update.name];
    const fields = Object.entries(fieldsInWords(form)).map(([field, kind]) => `${field}: ${kind}`);
    const either = eitherOf(form).join(" or ");
    setHandler(defineUpdate<object, [object?]>(update.name), (request) => actAndReply(run, update, request ?? {}), {
      description: `${form.purpose} Takes {${fields.join(", ")}}${either && `, with either ${either}`}.`,
      validator: (message?) => checkUpdate(run, update, message),
    });
  }
}

/**
 * @throws ApplicationFailure `NotAllowed`: what is true, and what the run takes now; `InvalidInput` for an unreadable
 *   message
 */
export function checkUpdate<Run extends AttentionList>(run: Run, update: Update<Run>, message?: unknown): void {
  const unreadable = whyUnreadable("update", message);
  if (unreadable !== undefined) throw invalidInput(`message ${update.name}`, [unreadable]);
  const request = message ?? {};
  const problems = problemsOf(UPDATE_FORMS[update.name], request);
  const why = problems[0] ?? update.refusedBecause(run, request) ?? unfilledText(update.name, request);
  if (why === undefined) return;
  const { stands, updates: allowed } = run.allowed;
  const words = `${why} ${stands}; allowed updates: ${allowed.join(", ") || "none"}.`;
  throw ApplicationFailure.nonRetryable(words, FAILURES.notAllowed, { allowed, problems } satisfies RefusalDetails);
}

/** An example that was sent as it stands: nobody would know later why. */
function unfilledText(name: UpdateName, request: object): string | undefined {
  const [problem] = unfilledFields(name, request as Record<string, unknown>);
  return problem === undefined ? undefined : `${problem}.`;
}

/** What is wrong with a message itself, each as a sentence: it comes from people's hands. */
export function problemsOf(form: MessageForm, message: unknown): string[] {
  if (typeof message !== "object" || message === null || Array.isArray(message) || ArrayBuffer.isView(message))
    return ["Expected one JSON object."];
  const given = new Map<string, unknown>(Object.entries(message).filter(([, value]) => value !== undefined));
  const problems: string[] = [];
  const unknown = [...given.keys()].filter((field) => !Object.hasOwn(form.properties, field));
  if (unknown.length > 0)
    problems.push(
      `Unknown field ${fewOf(unknown).join(", ")}; expected ${Object.keys(fieldsInWords(form)).join(", ")}.`,
    );
  for (const [field, rules] of Object.entries(form.properties)) {
    const isLeftOut = !given.has(field) && form.required?.includes(field) !== true;
    if (!isLeftOut && !fits(rules, given.get(field)))
      problems.push(`Expected the field ${field} with ${expected(rules)} in it.`);
  }
  const either = eitherOf(form);
  const found = either.filter((field) => given.has(field));
  if (either.length > 0 && found.length !== 1)
    problems.push(`Expected either ${either.join(" or ")}, found ${found.length === 0 ? "neither" : "both"}.`);
  for (const [field, { properties }] of Object.entries(form.dependentSchemas ?? {})) {
    if (!given.has(field)) continue;
    for (const [other, rule] of Object.entries(properties)) {
      if (rule === false && given.has(other)) problems.push(`Expected ${field} only without ${other}.`);
      if (rule !== false && given.get(other) !== rule.const)
        problems.push(`Expected ${field} only together with ${other}.`);
    }
  }
  return problems;
}

function eitherOf({ oneOf = [] }: MessageForm): string[] {
  return oneOf.map(({ required: [field] }) => field);
}

function fits(rules: FieldForm, value: unknown): boolean {
  const { const: only, enum: choices, minimum = -Infinity, maximum = Infinity } = rules;
  if (rules.type === "object") return typeof value === "object" && value !== null && !Array.isArray(value);
  if (typeof value !== rules.type || (only !== undefined && value !== only)) return false;
  if (typeof value === "number") return value >= minimum && value <= maximum;
  return typeof value !== "string" || ((choices?.includes(value) ?? true) && isText(rules, value));
}

function isText({ format, pattern = "", minLength = 0, maxLength }: FieldForm, text: string): boolean {
  if (!new RegExp(pattern, "u").test(text) || (format === "date" && !isCalendarDate(text))) return false;
  if (maxLength === undefined) return true;
  const { length } = Array.from(text);
  // Half of a surrogate pair is no character, which the patterns of JSON Schema cannot say.
  return length >= minLength && length <= maxLength && !/\p{Cs}/u.test(text);
}

const KINDS = { object: "an object", string: "a text", boolean: "true or false", number: "a number" } as const;

/** What each field holds, by its name: `note`, or `by?` if it may be left out. */
function fieldsInWords({ properties, required = [] }: MessageForm): Record<string, string> {
  const named = Object.entries(properties).map(
    ([field, { type, const: only }]) =>
      [required.includes(field) ? field : `${field}?`, only ? "true" : KINDS[type]] as const,
  );
  return Object.fromEntries(named);
}

function expected({ type, const: only, enum: choices, format, minLength = 0, maxLength, ...rules }: FieldForm): string {
  if (only !== undefined) return String(only);
  if (choices) return `one of ${choices.join(", ")}`;
  if (format === "date") return "a date written YYYY-MM-DD";
  if (maxLength !== undefined) return `a text of ${minLength} to ${maxLength} printable characters`;
  const { minimum, maximum } = rules;
  return minimum === undefined ? KINDS[type] : `${KINDS[type]} from ${minimum} to ${maximum}`;
}

const REPLY_WITHIN = "5 seconds";

/**
 * Acts, waits a little for what comes of it, and says so; of a cancellation that cannot be carried out yet only for its
 * note. Not cancellable: a cancelled workflow would otherwise fail the operator's update.
 */
function actAndReply<Run extends Operated>(run: Run, update: Update<Run>, request: object): Promise<object> {
  return CancellationScope.nonCancellable(async () => {
    const visible = (): string => {
      const needs = run.allAttentions.map(({ code, subject, sinceMs }) => [code, subject, sinceMs]);
      return JSON.stringify([run.stage, run.waitingFor, needs]);
    };
    const before = visible();
    const about: Cancelled = update.about?.(run) ?? run;
    const reply = update.act(run, request);
    if (reply) return await reply;
    const cancelPending = (): boolean => about.cancelRequested !== undefined && !about.cancelDue;
    // What is read before a cancellation may need an operator itself.
    const isCancelling = (): boolean =>
      about.cancelDue || (about.isCheckingCancel === true && about.attentions.length === 0);
    const isWish = cancelPending();
    const followed = (): boolean => isWish || (isCancelling() ? about.settled === true : visible() !== before);
    const isNoted = (): boolean => update.isNoted !== true || run.isNoted !== false;
    await condition(() => run.failure !== undefined || (followed() && isNoted()), REPLY_WITHIN, {
      summary: "An operator waits to hear what came of an update",
    });
    const kept = cancelPending() && update.kept ? ` ${update.kept(run)}` : "";
    const { stage, waitingFor } = run;
    const [attention] = run.allAttentions;
    const message = `${update.done ?? ""}${kept} ${stage === undefined ? "It" : `Stage ${stage};`} waits for ${waitingFor}.`;
    return { message, ...(stage !== undefined && { stage }), ...(attention && { attention: attention.code }) };
  });
}

// What Temporal's UI shows of a run (Current Details, in Markdown): what to do first, each JSON ready to be pasted.

/** Attentions that are shown in full: they must leave room for the rest of the page. The `state` query has all. */
const MOST_ATTENTIONS = 5;

/** Characters of one text of another system, and of all evidence of one attention. */
const MOST_WORDS = 1_500;

/** Temporal's UI 2.42 cuts off the last line or two: this one may be lost. */
const LAST_LINE = "What each code means: `docs/runbook.md` of fiscalflow.";

export function troubleText(trouble: ServiceTrouble | undefined): string {
  if (!trouble) return "";
  return `**${troubleInWords(trouble)}**, as far as calls show. What was deferred is tried again by itself.`;
}

export function unreadText(messages: number): string {
  if (messages === 0) return "";
  const noun = messages === 1 ? "message" : "messages";
  return `**${messages} ${noun} could not be read**, and changed nothing: a signal is one JSON object, under a name that this workflow has.`;
}

/** @param rest what else is known of the run, in paragraphs */
export function detailsPage(attentions: readonly Attention[], rest: readonly string[]): string {
  const more = attentions.length - MOST_ATTENTIONS;
  const shown = attentions.slice(0, MOST_ATTENTIONS).map(needsAnOperator);
  if (more > 0) shown.push(`### Needs an operator for ${more} more\n\nThey show here once those above are resolved.`);
  return [...shown, ...rest, LAST_LINE].filter((paragraph) => paragraph !== "").join("\n\n");
}

function needsAnOperator(attention: Attention): string {
  const { code, message, sinceMs } = attention;
  return [
    `### Needs an operator: ${code}`,
    whatToDo(attention),
    ...updateExamples(attention, "your name").map(updateText),
    `**What happened:** ${MEANING[code]}, since ${nairobiAndUtcTime(sinceMs)}. ${quoted(message)}`,
    ...evidenceOf(attention),
  ].join("\n\n");
}

/** Over several lines: the UI does not wrap code. */
function updateText({ update, when, input }: UpdateExample): string {
  return `Send the update \`${update}\` ${when}:\n\n\`\`\`json\n${plainJson(JSON.stringify(input, null, 2))}\n\`\`\``;
}

function evidenceOf({ evidence = {} }: Attention): string[] {
  let left = MOST_WORDS;
  const lines = Object.entries(evidence).flatMap(([name, value]) => {
    const text = typeof value === "string" ? value : (JSON.stringify(value, millisecondsAsTimes) ?? "");
    const line = name.endsWith("AtMs") ? `${name.slice(0, -2)}: ${timeText(value)}` : `${name}: ${text}`;
    const shown = line.slice(0, Math.max(left, 0));
    left -= line.length;
    return shown === "" ? [] : [`- ${quoted(shown)}`];
  });
  return lines.length > 0 ? ["**What is known:**", lines.join("\n")] : [];
}

function millisecondsAsTimes(name: string, value: unknown): unknown {
  return /atMs$/i.test(name) ? timeText(value) : value;
}

function timeText(value: unknown): string {
  return typeof value === "number" && isInstant(value) ? nairobiAndUtcTime(value) : String(value);
}

const ISO_TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g;

/**
 * Other people's words, as code on one line: nothing in them is Markdown, and they cannot look like an attention of
 * ours. Times are shown as the shop's clock showed them.
 */
export function quoted(words: string): string {
  const text = plainLine(words)
    .replace(ISO_TIME, (time) => (isInstant(Date.parse(time)) ? nairobiAndUtcTime(Date.parse(time)) : time))
    .replace(/\s+/g, " ")
    .replaceAll("`", "'")
    .trim();
  // Half of a character is none.
  return text === "" ? "" : `\`${text.slice(0, MOST_WORDS).replace(/[\uD800-\uDBFF]$/, "")}\``;
}

/** Whether a Date can show it. A workflow must not fail on what another system calls a time. */
function isInstant(atMs: number): boolean {
  return Math.abs(atMs) < 8e15;
}

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
