import {
  type Attention,
  MEANING,
  nairobiAndUtcTime,
  plainJson,
  plainLine,
  type ServiceTrouble,
  troubleInWords,
  type UpdateExample,
  updateExamples,
  whatToDo,
} from "../../src/contract/index.ts";

/**
 * What Temporal's UI shows of a run (Current Details, in Markdown). An operator decides by it, so what to do stands
 * first, each JSON ready to be pasted; then what is known.
 */

/** Attentions that are shown in full: they must leave room for the rest of the page. The `state` query has all. */
const MOST_ATTENTIONS = 5;

/** Characters of one text of another system, and of all evidence of one attention. */
const MOST_WORDS = 1_500;

/** Temporal's UI 2.42 cuts off the last line or two: this one may be lost. */
const LAST_LINE = "What each code means: `docs/runbook.md` of fiscalflow.";

/** What is wrong with the service that a call of the run waits for; empty where nothing is known to be. */
export function troubleText(trouble: ServiceTrouble | undefined): string {
  if (!trouble) return "";
  return `**${troubleInWords(trouble)}**, as far as calls show. What was deferred is tried again by itself.`;
}

/** Of messages that changed nothing, since nobody knows what they were to say. */
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

/** What is known of the outcome, or what the API answered: a line each. */
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
 * Other people's words, as code on one line: nothing in them is Markdown, or a link, and they cannot look like an
 * attention of ours. Times are shown as the shop's clock showed them.
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
