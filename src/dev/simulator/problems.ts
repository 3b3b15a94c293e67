import type { z } from "zod";

/**
 * A scenario, dialect, fault or other instruction to the simulator that cannot be followed; names every problem with
 * its path.
 */
export class InstructionError extends Error {
  override readonly name = "InstructionError";
  readonly problems: readonly string[];

  constructor(subject: string, problems: readonly string[]) {
    super(`The simulator cannot use this ${subject}: ${problems.join("; ")}`);
    this.problems = problems;
  }
}

function pathText(subject: string, path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (text, part) => (typeof part === "number" ? `${text}[${part}]` : `${text}.${String(part)}`),
    subject,
  );
}

/** Parses or throws an InstructionError whose problems read `scenario.items[0].unitPrice: …`. */
export function parseInstruction<S extends z.ZodType>(subject: string, schema: S, value: unknown): z.output<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new InstructionError(
    subject,
    parsed.error.issues.map((issue) => `${pathText(subject, issue.path)}: ${issue.message}`),
  );
}
