import { nairobiTime } from "./nairobi-date.ts";

/**
 * What keeps the API, or the accounting service, from serving calls, as far as somebody has seen it.
 *
 * - `away`: no answer, or a 5xx
 * - `rate-limited`: 429
 * - `refused`: the key, or what it may do
 * - `held-back`: the request budget has kept calls back, unsent, and nothing else is known of the API
 * - `slow`: an attempt of a call goes on for seconds. Only whoever asks Temporal sees it, and cannot tell it from a
 *   worker that is gone
 */
export interface ServiceTrouble {
  kind: "away" | "rate-limited" | "held-back" | "refused" | "slow";
  /** Since when no call has shown otherwise (Unix milliseconds). */
  sinceMs: number;
  /** Whoever saw it has not seen the API without it: it may have begun earlier. */
  orEarlier?: true;
}

const WORDS: Readonly<Record<ServiceTrouble["kind"], string>> = {
  away: "The API has been away since",
  "rate-limited": "The API has been rate limiting since",
  "held-back": "The request budget has held calls back since",
  refused: "The API has refused the key since",
  slow: "The API is slow, or a worker is gone: a call has been under way since",
};

/** As a sentence without its full stop; the same words everywhere. */
export function troubleInWords({ kind, sinceMs, orEarlier }: ServiceTrouble): string {
  return `${WORDS[kind]} ${nairobiTime(sinceMs)}${orEarlier ? " or earlier" : ""}`;
}

/** Type of the failure of an attempt that looked, and has not seen what it waits for: nothing has failed. */
export const STILL_WAITING = "StillWaiting";

/** What a failure of an activity carries as its details, for programs. */
export interface TroubleDetails {
  trouble: ServiceTrouble;
  /** What this attempt came to, without the words of the trouble. */
  said: string;
}
