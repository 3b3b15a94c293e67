import type { z } from "zod";
import { parseJsonc } from "./parse-jsonc.ts";
import type { About } from "./plain-settings.ts";
import type { Reading, Setting } from "./setting.ts";
import { showFound } from "./show-found.ts";

/**
 * An object with something for each business; a variable carries it as JSON.
 * @param expected what a refusal says, up to its "found"
 */
export function businessRecordSetting<Value>(
  about: About<Value>,
  schema: z.ZodType<Value>,
  expected: string,
): Setting<Value> {
  const refused = (found: unknown): Reading<never> => ({
    ok: false,
    problems: [`expected ${expected} found ${showFound(found)}`],
  });
  const read = (raw: unknown): Reading<Value> => {
    const reading = schema.safeParse(raw);
    return reading.success ? { ok: true, value: reading.data } : refused(raw);
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
