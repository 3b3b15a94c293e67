import { z } from "zod";
import { parseJsonc } from "./parse-jsonc.ts";
import type { About } from "./plain-settings.ts";
import type { Reading, Setting } from "./setting.ts";
import { showFound } from "./show-found.ts";

/** Temporal clamps a weight to this range without a word, so what is outside of it is refused here. */
const LEAST = 0.001;
const MOST = 1000;

const EXPECTED = `an object of businesses and their weights from ${LEAST} to ${MOST}, such as {"biz_1": 2}`;
const weights = z.record(z.string().min(1), z.number().min(LEAST).max(MOST));

/** How much of a contested budget each business gets, beside the others; a variable carries it as JSON. */
export function weightsSetting(about: About<Record<string, number>>): Setting<Record<string, number>> {
  return {
    ...about,
    fromJson: read,
    fromText: (text) => {
      const json = parseJsonc(text);
      return json.ok ? read(json.value) : refused(text);
    },
  };
}

function read(raw: unknown): Reading<Record<string, number>> {
  const reading = weights.safeParse(raw);
  return reading.success ? { ok: true, value: reading.data } : refused(raw);
}

function refused(found: unknown): Reading<never> {
  return { ok: false, problems: [`expected ${EXPECTED}, found ${showFound(found)}`] };
}
