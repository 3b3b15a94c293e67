/**
 * The zod schemas of what callers give, a sale, a refund and the input of a job, and how an input is parsed and each of
 * its problems named. No workflow loads them. The schemas of the settings are in `src/config/`, those of a service's
 * answers with its client.
 *
 * Stands on: `src/contract`.
 */
import ms from "ms";
import { z } from "zod";
import { fewOf, plainJson, plainLine } from "../plain-text.ts";
import { FAILURES, FiscalflowError, invalidInputInWords } from "../errors.ts";
import { isCalendarDate } from "../nairobi-date.ts";
import { PRINTABLE } from "../updates.ts";

/** More than these nobody reads, and the text must fit into what carries a failure. */
const SHOWN_PROBLEMS = 100;

/** Of a check whose message says itself what was found. */
export const SAYS_FOUND = { params: { saysFound: true } };

/** Each as `path: what was expected, what was found`; beyond the first hundred only their number. */
function describeProblems(error: z.ZodError, input: unknown): string[] {
  const problems = error.issues.flatMap((issue) => describeIssue(issue, input));
  return fewOf(problems, SHOWN_PROBLEMS);
}

function describeIssue(issue: z.core.$ZodIssue, input: unknown): string[] {
  const path = pathText(issue.path);
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => `${pathText([...issue.path, key])}: unknown field`);
  }
  const saysFound = issue.code === "custom" && issue.params?.["saysFound"] === true;
  return [`${path}: ${issue.message}${saysFound ? "" : `, found ${shown(valueAt(input, issue.path))}`}`];
}

/** In place of zod's own words, if the schema has none. */
function expectation(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === "invalid_type") return `expected ${article(issue.expected)}`;
  if (issue.code === "invalid_value")
    return `expected one of ${issue.values.map((value) => JSON.stringify(value)).join(", ")}`;
  return undefined;
}

function article(noun: string): string {
  return /^[aeiou]/.test(noun) ? `an ${noun}` : `a ${noun}`;
}

function pathText(path: PropertyKey[]): string {
  if (path.length === 0) return "input";
  return path.reduce<string>(
    (text, part) =>
      typeof part === "number" ? `${text}[${part}]` : text === "" ? fieldName(part) : `${text}.${fieldName(part)}`,
    "",
  );
}

function fieldName(part: PropertyKey): string {
  return plainLine(shortened(String(part)));
}

function valueAt(input: unknown, path: PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, part) =>
      typeof value === "object" && value !== null ? (value as Record<PropertyKey, unknown>)[part] : undefined,
    input,
  );
}

function shown(value: unknown): string {
  if (value === undefined) return "nothing";
  if (typeof value === "string" || typeof value === "boolean" || value === null)
    return plainJson(shortened(JSON.stringify(value)));
  if (typeof value === "number") return String(value);
  return Array.isArray(value) ? `a list of ${value.length}` : `an ${typeof value}`;
}

function shortened(text: string): string {
  const characters = Array.from(text);
  return characters.length > 60 ? `${characters.slice(0, 57).join("")}…` : text;
}

/** Nothing was sent to the tax authority. `problems` has a line for each field. */
export class InvalidInputError extends FiscalflowError {
  override readonly name = "InvalidInputError";
  readonly code = FAILURES.invalidInput;
  readonly what: string;
  readonly problems: readonly string[];

  constructor(what: string, problems: readonly string[], verb: "is" | "are" = "is") {
    super(invalidInputInWords({ what, problems }, verb));
    this.what = what;
    this.problems = problems;
  }
}

/** The parsed input, or an {@link InvalidInputError} that names every problem at once. `what` is its noun. */
export function parseInput<T>(schema: z.ZodType<T>, input: unknown, what: string): T {
  const parsed = schema.safeParse(input, { error: expectation });
  if (parsed.success) return parsed.data;
  throw new InvalidInputError(what, describeProblems(parsed.error, input));
}

export const calendarDate = z
  .string({ error: "expected a date written YYYY-MM-DD" })
  .refine(isCalendarDate, { error: "expected a date that exists, written YYYY-MM-DD" })
  .meta({ format: "date", pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}$" });

const LONGEST_MS = 10 * 365 * 24 * 60 * 60 * 1000;

/** `24 hours`, `90m`, `0`; undefined for anything that is no duration between none and ten years. */
export function durationMs(text: string): number | undefined {
  const trimmed = text.trim();
  // `ms` reads a bare number as milliseconds, which nobody means here.
  if (trimmed === "0") return 0;
  if (/^-?[\d.]*$/.test(trimmed) || trimmed.length > 50) return undefined;
  const parsed = ms(trimmed as ms.StringValue);
  return Number.isFinite(parsed) && parsed >= 0 && parsed <= LONGEST_MS ? Math.round(parsed) : undefined;
}

export const duration = z
  .string({ error: 'expected a duration such as "24 hours", or "0"' })
  .refine((text) => durationMs(text) !== undefined, { error: 'expected a duration such as "24 hours", or "0"' })
  .meta({ examples: ["24 hours", "90m", "0"], pattern: "^\\s*(0|[0-9]*\\.?[0-9]+ *[A-Za-z]+)\\s*$" });

/**
 * Control characters and lone surrogates can neither be printed on a receipt nor be written as UTF-8. Everything else
 * is welcome.
 */
const UNPRINTABLE = /\p{Cc}/u;

/** Text of 1 to `maxCharacters` characters, counted as code points, so that an emoji is one. */
export function printableText(maxCharacters: number) {
  const checked = z.string().superRefine((text, context) => {
    const characters = Array.from(text);
    const complaint =
      characters.length === 0
        ? "expected at least 1 character, found an empty text"
        : characters.length > maxCharacters
          ? `expected at most ${maxCharacters} characters, found ${characters.length}`
          : UNPRINTABLE.test(text)
            ? "expected no control characters (such as tab or line break), found one"
            : hasLoneSurrogate(characters)
              ? "expected well-formed Unicode, found half of a surrogate pair"
              : undefined;
    if (complaint) context.addIssue({ code: "custom", message: complaint, ...SAYS_FOUND });
  });
  // For the JSON Schema, which counts code points too.
  return checked.meta({ minLength: 1, maxLength: maxCharacters, pattern: PRINTABLE });
}

function hasLoneSurrogate(characters: string[]): boolean {
  return characters.some((character) => character.length === 1 && /[\uD800-\uDFFF]/.test(character));
}
