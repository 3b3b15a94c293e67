import type { z } from "zod";

/** A scenario, dialect, fault or control that the simulator cannot follow; names every problem with its path. */
export class InstructionError extends Error {
  override readonly name = "InstructionError";
  readonly problems: readonly string[];

  constructor(subject: string, problems: readonly string[]) {
    super(`The simulator cannot use this ${subject}: ${problems.join("; ")}`);
    this.problems = problems;
  }
}

/** Parses or throws an InstructionError whose problems read `scenario.items[0].unitPrice: …`. */
export function parseInstruction<S extends z.ZodType>(subject: string, schema: S, value: unknown): z.output<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => {
    const place = path.map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`)).join("");
    return `${subject}${place}: ${message}`;
  });
  throw new InstructionError(subject, problems);
}

/** What is known under this id. */
export function known<T>(subject: string, all: ReadonlyMap<string, T>, id: string, at = subject): T {
  const found = all.get(id);
  if (found === undefined) throw new InstructionError(subject, [`${at}: there is no ${subject} "${id}"`]);
  return found;
}

/** Refuses an id that is taken. */
export function requireNew(subject: string, all: ReadonlyMap<string, unknown>, id: string, at = subject): void {
  if (all.has(id)) throw new InstructionError(subject, [`${at}.id: "${id}" exists`]);
}
