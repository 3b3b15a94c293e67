import type { ConfigProblem } from "./config-error.ts";
import type { SettingsResult } from "./setting.ts";
import type { Timings, timingSettings } from "./timing-settings.ts";

/** Waits that grow: each must be at least as long as the one before it. */
const GROWING: readonly (readonly [keyof Timings, keyof Timings])[] = [
  ["firstPollMs", "longestPollMs"],
  ["longestPollMs", "longestPollAfterDayMs"],
];

export function checkTimings({ values, where }: SettingsResult<typeof timingSettings>): ConfigProblem[] {
  return GROWING.flatMap(([shorterKey, longerKey]) => {
    const [shorter, longer] = [values[shorterKey], values[longerKey]];
    if (shorter === undefined || longer === undefined || shorter <= longer) return [];
    const message = `expected at least ${where(shorterKey)}, ${shorter} milliseconds; found ${longer}`;
    return [{ path: where(longerKey), message }];
  });
}
