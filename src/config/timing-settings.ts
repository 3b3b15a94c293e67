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
    "the longest time that one call to a service may take",
  ),
  resubmissions: integerSetting(
    { min: 0, max: 20, unit: "times" },
    about("resubmissions", 3, "how many times a rejected document is resubmitted automatically at most"),
  ),
  resubmissionWindowMs: milliseconds(
    "resubmissionWindowMs",
    5 * MINUTE,
    [0, DAY],
    "automatic resubmissions end this long after the first rejection; from then on an operator decides",
  ),
  firstPollMs: milliseconds(
    "firstPollMs",
    5 * SECOND,
    [SECOND, HOUR],
    "the time until the first poll of a document for which no callback is expected",
  ),
  firstPollWithCallbackMs: milliseconds(
    "firstPollWithCallbackMs",
    MINUTE,
    [SECOND, DAY],
    "the time until the first poll of a document for which a callback is expected",
  ),
  longestPollMs: milliseconds(
    "longestPollMs",
    10 * MINUTE,
    [SECOND, DAY],
    "the longest time between two polls of a document; it grows with the document's age and reaches this within the first hour",
  ),
  longestPollAfterDayMs: milliseconds(
    "longestPollAfterDayMs",
    4 * HOUR,
    [SECOND, 7 * DAY],
    "the longest time between two polls of a document that is more than a day old; reached gradually, as the document gets older",
  ),
  refusedKeyPauseMs: milliseconds(
    "refusedKeyPauseMs",
    30 * SECOND,
    [SECOND, 50 * SECOND],
    "after this pause a refused key is tried again, by one call of each process; later pauses grow to twenty times this",
  ),
  failingPauseMs: milliseconds(
    "failingPauseMs",
    SECOND,
    [1, MINUTE],
    "while the API fails every call, calls are made one at a time, first after this pause; later pauses grow to thirty times this",
  ),
  slowAfterMs: milliseconds(
    "slowAfterMs",
    HOUR,
    [MINUTE, 30 * DAY],
    "`authority-slow` is raised for a document that has been in flight for this long",
  ),
  unservedAfterMs: milliseconds(
    "unservedAfterMs",
    DAY,
    [MINUTE, 30 * DAY],
    "`unexpected-answer` is raised for a read, or the registration of an item, that the service has not served for this long; it goes on by itself once the service answers",
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
    "how long the API is certain to remember an idempotency key; after that a create request is not repeated",
  ),
  fallbackLimitPerMinute: integerSetting(
    { min: 1, max: 100_000, unit: "requests a minute" },
    about(
      "fallbackLimitPerMinute",
      120,
      "requests per minute for an application, until the API's headers state the limit",
    ),
  ),
  refundWindowMs: milliseconds(
    "refundWindowMs",
    DAY,
    [0, 3_650 * DAY],
    "how long a completed sale that does not set `refundWindow` itself stays open for a refund; 0 closes it at once",
  ),
};

export type Timings = { [K in keyof SettingValues<typeof timingSettings>]: number };

function milliseconds(key: string, fallback: number, [min, max]: [number, number], meaning: string) {
  return integerSetting({ min, max, unit: "milliseconds" }, about(key, fallback, meaning));
}

function about(key: string, fallback: number, meaning: string) {
  return { variable: `FISCALFLOW_TIMING_${key.replace(/[A-Z]/g, "_$&").toUpperCase()}`, fallback, meaning };
}
