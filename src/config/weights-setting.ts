import { z } from "zod";
import { businessRecordSetting } from "./business-record-setting.ts";
import type { About } from "./plain-settings.ts";
import type { Setting } from "./setting.ts";

/** Temporal clamps a weight to this range without a word, so what is outside of it is refused here. */
const LEAST = 0.001;
const MOST = 1000;

const EXPECTED = `an object of businesses and their weights from ${LEAST} to ${MOST}, such as {"biz_1": 2},`;
const error = `expected a weight from ${LEAST} to ${MOST}`;
const weights = z.record(z.string().min(1), z.number({ error }).min(LEAST, { error }).max(MOST, { error }));

/** How much of a contested budget each business gets, beside the others; a variable carries it as JSON. */
export function weightsSetting(about: About<Record<string, number>>): Setting<Record<string, number>> {
  return businessRecordSetting(about, weights, EXPECTED);
}
