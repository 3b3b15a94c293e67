import { z } from "zod";
import { durationMs } from "../contract/schema/duration.ts";
import { type About, textSetting } from "./plain-settings.ts";
import type { Setting } from "./setting.ts";

const MINUTE_MS = 60_000;
const LONGEST_MS = 366 * 24 * 60 * MINUTE_MS;

const interval = z.string().refine((text) => {
  const everyMs = durationMs(text) ?? 0;
  return text === "off" || (everyMs >= MINUTE_MS && everyMs <= LONGEST_MS);
});

/** How often something is done: a duration such as `1 hour`, or `off`. */
export function intervalSetting(about: About<string>): Setting<string> {
  return textSetting(interval, 'a duration from "1 minute" to "366 days", or "off"', about);
}

/** In milliseconds; `null` for `off`. */
export function intervalMs(text: string): number | null {
  return durationMs(text) ?? null;
}
