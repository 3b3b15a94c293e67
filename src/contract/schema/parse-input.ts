import type { z } from "zod";

import { FAILURES, invalidInputInWords } from "../calls.ts";
import { FiscalflowError } from "../fiscalflow-error.ts";
import { describeProblems } from "./describe-problems.ts";

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
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  throw new InvalidInputError(what, describeProblems(parsed.error, input));
}
