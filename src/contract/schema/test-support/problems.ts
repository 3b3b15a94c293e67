import type { z } from "zod";

import { InvalidInputError, parseInput } from "../parse-input.ts";

/** The problems of an input; empty if it parses. */
export function problemsOf(schema: z.ZodType, input: unknown): readonly string[] {
  try {
    parseInput(schema, input, "input");
    return [];
  } catch (error) {
    if (error instanceof InvalidInputError) return error.problems;
    throw error;
  }
}
