/**
 * The headers by which a service tells its quota (Fiscal Compliance API, "Limits"): on all successes and on 429.
 * A value that cannot be meant (negative, not a whole number, a reset of more than a day) counts as absent.
 */
export interface RateLimit {
  /** Requests for each window of a minute. */
  limit: number;
  /** Requests left in the window. */
  remaining: number;
  /** Seconds until the window ends; never a Unix timestamp. */
  resetSeconds: number;
}

type Headers = Readonly<Record<string, string | undefined>>;

/**
 * The longest pause that a Retry-After or a reset is believed, by the budget and by the call that was refused: one absurd
 * header must not stop every till for a day. A service that means it asks again.
 */
export const LONGEST_QUOTA_PAUSE_MS = 600_000;

const LONGEST_WAIT_SECONDS = 86_400;
const MOST_REQUESTS = 1_000_000_000;

/** All three or nothing: a part of them says nothing that could be counted with. */
export function parseRateLimit(headers: Headers): RateLimit | undefined {
  const limit = parseCount(headers["x-ratelimit-limit"], MOST_REQUESTS);
  const remaining = parseCount(headers["x-ratelimit-remaining"], MOST_REQUESTS);
  const resetSeconds = parseCount(headers["x-ratelimit-reset"], LONGEST_WAIT_SECONDS);
  if (limit === undefined || remaining === undefined || resetSeconds === undefined) return undefined;
  return { limit, remaining, resetSeconds };
}

/**
 * Seconds to wait. The document shows whole seconds; an HTTP date, which RFC 9110 allows and proxies send, is read
 * against `nowMs` (best the answer's own Date), and one that has passed is 0. More than a day is a day: nothing pauses as
 * long.
 */
export function parseRetryAfterSeconds(headers: Headers, nowMs: number): number | undefined {
  const value = headers["retry-after"];
  const seconds = parseCount(value, Infinity);
  if (seconds !== undefined) return Math.min(seconds, LONGEST_WAIT_SECONDS);
  const atMs = parseHttpDateMs(value);
  if (atMs === undefined) return undefined;
  return Math.min(Math.max(0, Math.ceil((atMs - nowMs) / 1000)), LONGEST_WAIT_SECONDS);
}

/** What a Retry-After asks for, behind an error's message; empty where there is none. */
export function pauseInWords(seconds: number | undefined): string {
  if (seconds === undefined) return "";
  return ` (the service asks for a pause of ${seconds >= LONGEST_WAIT_SECONDS ? "a day or more" : `${seconds} s`})`;
}

const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** The preferred form of RFC 9110, section 5.6.7, in Unix milliseconds. */
export function parseHttpDateMs(value: string | undefined): number | undefined {
  const text = value?.trim();
  if (text === undefined || !HTTP_DATE.test(text)) return undefined;
  const atMs = Date.parse(text);
  return Number.isNaN(atMs) ? undefined : atMs;
}

function parseCount(value: string | undefined, most: number): number | undefined {
  const text = value?.trim();
  if (text === undefined || !/^\d{1,15}$/.test(text)) return undefined;
  const count = Number(text);
  return count <= most ? count : undefined;
}
