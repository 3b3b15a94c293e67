import type { z } from "zod";
import type { About } from "./plain-settings.ts";
import type { Reading, Setting } from "./setting.ts";
import { showFound } from "./show-found.ts";

/**
 * Different texts, each accepted by the schema: a list in the file, separated by commas in a variable. `expected`
 * completes the sentence "expected …", of one of them.
 */
export function listSetting(schema: z.ZodType<string>, expected: string, about: About<string[]>): Setting<string[]> {
  const read = (found: readonly unknown[]): Reading<string[]> => {
    const values: string[] = [];
    const problems = found.length === 0 ? [`expected at least one: ${expected}; found an empty list`] : [];
    for (const [index, raw] of found.entries()) {
      const parsed = schema.safeParse(raw);
      const problem = !parsed.success
        ? `expected ${expected}, found ${showFound(raw)}`
        : values.includes(parsed.data)
          ? `expected different ones, found ${showFound(raw)} twice`
          : undefined;
      if (problem !== undefined) problems.push(`${index + 1} of ${found.length}: ${problem}`);
      else if (parsed.success) values.push(parsed.data);
    }
    return problems.length === 0 ? { ok: true, value: values } : { ok: false, problems };
  };
  return {
    ...about,
    fromJson: (raw) => {
      if (Array.isArray(raw)) return read(raw);
      return { ok: false, problems: [`expected a list, each ${expected}; found ${showFound(raw)}`] };
    },
    fromText: (text) => read(text.split(",").map((part) => part.trim())),
  };
}
