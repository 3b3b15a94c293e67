import type { z } from "zod";
import { plainJson, plainLine } from "../plain-text.ts";
import { FAILURES, FiscalflowError, invalidInputInWords } from "../errors.ts";

/** More than these nobody reads, and the text must fit into what carries a failure. */
const SHOWN_PROBLEMS = 100;

/** Of a check whose message says itself what was found. */
export const SAYS_FOUND = { params: { saysFound: true } };

/**
 * Problems of one input, each as `path: what was expected, what was found`; beyond the first hundred only their number.
 */
export function problemsOf(schema: z.ZodType, input: unknown): string[] {
  const { error } = schema.safeParse(input, { error: expectation });
  return error ? describeProblems(error, input) : [];
}

function describeProblems(error: z.ZodError, input: unknown): string[] {
  const problems = error.issues.flatMap((issue) => describeIssue(issue, input));
  if (problems.length <= SHOWN_PROBLEMS) return problems;
  return [...problems.slice(0, SHOWN_PROBLEMS), `and ${problems.length - SHOWN_PROBLEMS} more problems`];
}

function describeIssue(issue: z.core.$ZodIssue, input: unknown): string[] {
  const path = pathText(issue.path);
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => `${pathText([...issue.path, key])}: unknown field`);
  }
  const saysFound = issue.code === "custom" && issue.params?.["saysFound"] === true;
  return [`${path}: ${issue.message}${saysFound ? "" : `, found ${shown(valueAt(input, issue.path))}`}`];
}

/** In place of zod's own words, where the schema has none. */
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

/**
 * Input that nobody can correct but its author: nothing was sent to the tax authority. `problems` has a line for each
 * field.
 */
export class InvalidInputError extends FiscalflowError {
  override readonly name = "InvalidInputError";
  readonly code = FAILURES.invalidInput;
  /** The input's noun. */
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
