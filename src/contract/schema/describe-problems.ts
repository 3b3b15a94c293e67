import type { z } from "zod";

import { plainJson, plainLine } from "../plain-text.ts";

/** More than these nobody reads, and the text must fit into what carries a failure. */
const SHOWN_PROBLEMS = 100;

/**
 * Problems of one input, each as `path: what was expected, what was found`; beyond the first hundred only their number.
 */
export function describeProblems(error: z.ZodError, input: unknown): string[] {
  const problems = error.issues.flatMap((issue) => describeIssue(issue, input));
  if (problems.length <= SHOWN_PROBLEMS) return problems;
  return [...problems.slice(0, SHOWN_PROBLEMS), `and ${problems.length - SHOWN_PROBLEMS} more problems`];
}

function describeIssue(issue: z.core.$ZodIssue, input: unknown): string[] {
  const path = pathText(issue.path);
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => `${pathText([...issue.path, key])}: unknown field`);
  }
  const found = valueAt(input, issue.path);
  const expected = expectation(issue);
  // A message that already says what it found would say it twice.
  return [/ found /.test(expected) ? `${path}: ${expected}` : `${path}: ${expected}, found ${shown(found)}`];
}

function expectation(issue: z.core.$ZodIssue): string {
  if (issue.message.startsWith("expected")) return issue.message;
  if (issue.code === "invalid_type") return `expected ${article(issue.expected)}`;
  if (issue.code === "invalid_value")
    return `expected one of ${issue.values.map((value) => JSON.stringify(value)).join(", ")}`;
  return issue.message;
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
