import { InvalidArgumentError, Option } from "commander";
import type { z } from "zod";

import { LONGEST_WAIT_SECONDS } from "../starter/bound.ts";

/** Parses an argument by a schema of the contract. @throws InvalidArgumentError with what was expected */
export function parsedBy<T>(schema: z.ZodType<T>): (value: string) => T {
  return (value) => {
    const parsed = schema.safeParse(value);
    if (parsed.success) return parsed.data;
    throw new InvalidArgumentError(sentence(parsed.error.issues[0]?.message ?? "expected another value"));
  };
}

/** A whole number within bounds that belong to the range. */
export function wholeNumber(min: number, max: number): (value: string) => number {
  return (value) => {
    const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
    if (number >= min && number <= max) return number;
    throw new InvalidArgumentError(`Expected a whole number from ${min} to ${max}.`);
  };
}

/** The value of `--wait [seconds]`. */
export function waitSeconds(value: string): number {
  if (/^\d{1,5}$/.test(value) && Number(value) <= LONGEST_WAIT_SECONDS) return Number(value);
  throw new InvalidArgumentError(
    `Expected whole seconds up to ${LONGEST_WAIT_SECONDS}. Without a number, put --wait after the other arguments.`,
  );
}

/** `--wait [seconds]`, a minute where no number is given. */
export function waitOption(what: string): Option {
  return new Option("--wait [seconds]", `${what} (default: 60)`).preset("60").argParser(waitSeconds);
}

/** For `addHelpText`: what stands below the options. */
export function help(text: string, ...examples: string[]): ["after", string] {
  const title = examples.length > 1 ? "Examples:" : "Example:";
  const shown = [title, ...examples.map((example) => `  ${example}`)].join("\n");
  return ["after", `\n${text === "" ? "" : `${text}\n\n`}${shown}`];
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
