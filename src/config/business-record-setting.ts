import type { z } from "zod";
import { nearMiss } from "./near-miss.ts";
import { parseJsonc } from "./parse-jsonc.ts";
import type { About } from "./plain-settings.ts";
import type { Reading, Setting } from "./setting.ts";
import { showFound } from "./show-found.ts";

/**
 * An object with something for each business; a variable carries it as JSON.
 * @param schema says of each field what it expects: "expected …"
 * @param expected what a refusal of the whole says, up to its "found"
 * @param fields that each business may have, where that is an object
 */
export function businessRecordSetting<Value>(
  about: About<Value>,
  schema: z.ZodType<Value>,
  expected: string,
  fields: readonly string[] = [],
): Setting<Value> {
  /** Names the business and the field: what the object holds may be long. */
  const problemsOf = (issue: z.core.$ZodIssue, raw: object): string[] => {
    const at = issue.path.length > 0 ? `${issue.path.join(".")}: ` : "";
    if (issue.code === "unrecognized_keys") {
      return issue.keys.map((key) => {
        const meant = nearMiss(key, fields);
        const hint = meant === undefined ? `known here: ${fields.join(", ")}` : `did you mean "${meant}"?`;
        return `${at}has an unknown field ${showFound(key)}; ${hint}`;
      });
    }
    const found = issue.path.reduce<unknown>(
      (value, part) =>
        typeof value === "object" && value !== null ? (value as Record<PropertyKey, unknown>)[part] : undefined,
      raw,
    );
    return [`${at}${issue.message}, found ${found === undefined ? "nothing" : showFound(found)}`];
  };
  const refused = (found: unknown): Reading<never> => ({
    ok: false,
    problems: [`expected ${expected} found ${showFound(found)}`],
  });
  const read = (raw: unknown): Reading<Value> => {
    if (typeof raw !== "object" || raw === null || Array.isArray(raw)) return refused(raw);
    const reading = schema.safeParse(raw);
    if (reading.success) return { ok: true, value: reading.data };
    return { ok: false, problems: reading.error.issues.flatMap((issue) => problemsOf(issue, raw)) };
  };
  return {
    ...about,
    fromJson: read,
    fromText: (text) => {
      const json = parseJsonc(text);
      return json.ok ? read(json.value) : refused(text);
    },
  };
}
