import type { z } from "zod";

import { FAILURES } from "../calls.ts";
import { FiscalflowError } from "../fiscalflow-error.ts";
import { describeProblems } from "./describe-problems.ts";

/**
 * Input that nobody can correct but its author: nothing was sent to the tax authority. `problems` has a line for each
 * field.
 */
export class InvalidInputError extends FiscalflowError {
  override readonly name = "InvalidInputError";
  readonly code = FAILURES.invalidInput;
  readonly problems: readonly string[];

  constructor(what: string, problems: readonly string[], verb: "is" | "are" = "is") {
    super(`The ${what} ${verb} not valid:\n${problems.map((problem) => `  ${problem}`).join("\n")}`);
    this.problems = problems;
  }

  /** As a workflow has worded it: the first line names the input, each further one a problem. */
  static ofWorkflow(message: string): InvalidInputError {
    const [first = "", ...problems] = message.split("\n");
    const [, what = "input"] = /^The (.+) is not valid:$/.exec(first) ?? [];
    return new InvalidInputError(what, problems.length > 0 ? problems.map((problem) => problem.trim()) : [message]);
  }
}

/** The parsed input, or an {@link InvalidInputError} that names every problem at once. `what` is its noun. */
export function parseInput<T>(schema: z.ZodType<T>, input: unknown, what: string): T {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  throw new InvalidInputError(what, describeProblems(parsed.error, input));
}
