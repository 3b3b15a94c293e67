import { integerSetting } from "./plain-settings.ts";
import type { SettingValues } from "./setting.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/**
 * Documented in docs/configuration.md. Each is also a variable: `callTimeoutMs` is `FISCALFLOW_TIMING_CALL_TIMEOUT_MS`.
 */
export const timingSettings = {
  callTimeoutMs: milliseconds(
    "callTimeoutMs",
    30 * SECOND,
    [SECOND, 5 * MINUTE],
    "one call of a service takes at most this long",
  ),
  resubmissions: integerSetting(
    { min: 0, max: 20, unit: "times" },
    about("resubmissions", 3, "a rejected document is sent again without anyone's help at most this often"),
  ),
  resubmissionWindowMs: milliseconds(
    "resubmissionWindowMs",
    5 * MINUTE,
    [0, DAY],
    "and no later than this after its first rejection; from then on a person decides",
  ),
  firstPollMs: milliseconds(
    "firstPollMs",
    5 * SECOND,
    [SECOND, HOUR],
    "the first look at a document without a callback",
  ),
  firstPollWithCallbackMs: milliseconds(
    "firstPollWithCallbackMs",
    MINUTE,
    [SECOND, DAY],
    "the first look at a document with a callback",
  ),
  longestPollMs: milliseconds(
    "longestPollMs",
    10 * MINUTE,
    [SECOND, DAY],
    "the time between two looks at a document grows with the document's age: to this within the first hour",
  ),
  longestPollAfterDayMs: milliseconds(
    "longestPollAfterDayMs",
    4 * HOUR,
    [SECOND, 7 * DAY],
    "the time between two looks at a document that is more than a day old",
  ),
  refusedKeyPauseMs: milliseconds(
    "refusedKeyPauseMs",
    30 * SECOND,
    [SECOND, 50 * SECOND],
    "a refused key is tried again after this, by one call of each process; later pauses grow to twenty times of it",
  ),
  failingPauseMs: milliseconds(
    "failingPauseMs",
    SECOND,
    [1, MINUTE],
    "an API that fails every call is asked by one call at a time, after this; later pauses grow to thirty times of it",
  ),
  slowAfterMs: milliseconds(
    "slowAfterMs",
    HOUR,
    [MINUTE, 30 * DAY],
    "`authority-slow` is raised for a document in flight this long",
  ),
  catalogueAgeMs: milliseconds(
    "catalogueAgeMs",
    10 * MINUTE,
    [0, DAY],
    "the list of items is read again when it is this old",
  ),
  idempotencyKeyLifeMs: milliseconds(
    "idempotencyKeyLifeMs",
    DAY,
    [0, 30 * DAY],
    "the API knows an idempotency key at least this long; a create request is not repeated later",
  ),
  fallbackLimitPerMinute: integerSetting(
    { min: 1, max: 100_000, unit: "requests a minute" },
    about("fallbackLimitPerMinute", 120, "requests a minute of an application, until the API's headers say how many"),
  ),
  refundWindowMs: milliseconds(
    "refundWindowMs",
    DAY,
    [0, 3_650 * DAY],
    "a completed sale that does not say so itself stays open for a refund this long; 0 closes at once",
  ),
  movementChunk: integerSetting(
    { min: 2, max: 200, unit: "stock movements" },
    about(
      "movementChunk",
      100,
      "a sale that moves more than half as many items has them moved by child workflows, this many in each",
    ),
  ),
};

export type Timings = { [K in keyof SettingValues<typeof timingSettings>]: number };

function milliseconds(key: string, fallback: number, [min, max]: [number, number], meaning: string) {
  return integerSetting({ min, max, unit: "milliseconds" }, about(key, fallback, meaning));
}

function about(key: string, fallback: number, meaning: string) {
  return { variable: `FISCALFLOW_TIMING_${key.replace(/[A-Z]/g, "_$&").toUpperCase()}`, fallback, meaning };
}
