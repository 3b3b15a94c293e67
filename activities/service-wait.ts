import { Context } from "@temporalio/activity";

import type { ServiceWait } from "../src/contract/index.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

const FIRST_PAUSE_MS = MINUTE_MS;
/** Each own try costs its workflow a dozen events, so the pauses between them grow by half of what was waited. */
const SHARE_OF_WAIT = 1 / 2;
const LONGEST_PAUSE_MS = 12 * HOUR_MS;

/** Looks cost no history. */
const SHARE_OF_AGE = 1 / 6;
const LONGEST_LOOK_PAUSE_MS = HOUR_MS / 2;

/** Where a wait for the service stands, by the clock of the Temporal server, which is the clock of its workflow too. */
export interface Standing {
  /** The call has been tried a moment ago, and nothing that is found out can make it worth another try before then. */
  tooSoonForMs: number;
  /** Until the call is worth a try of its own, whatever is found out; 0: it is. */
  ownTurnInMs: number;
  /** The pause before the next look, where this one brings nothing. */
  lookPauseMs: number;
}

export function standingOf({ triedAtMs, sinceMs }: ServiceWait, nowMs: number, random: () => number): Standing {
  const share = (triedAtMs - sinceMs) * SHARE_OF_WAIT;
  const pauseMs = Math.min(Math.max(share, FIRST_PAUSE_MS), LONGEST_PAUSE_MS);
  const inMs = (atMs: number): number => Math.max(atMs - nowMs, 0);
  const ownTurnInMs = inMs(triedAtMs + pauseMs);
  const early = Math.min(Math.max((nowMs - sinceMs) * SHARE_OF_AGE, FIRST_PAUSE_MS), LONGEST_LOOK_PAUSE_MS);
  // Jitter of a tenth keeps waits apart that began together.
  const lookMs = Math.round(early * (0.9 + random() * 0.2));
  return {
    tooSoonForMs: inMs(triedAtMs + Math.min(pauseMs, LONGEST_LOOK_PAUSE_MS)),
    ownTurnInMs,
    lookPauseMs: ownTurnInMs > 0 ? Math.min(lookMs, ownTurnInMs) : lookMs,
  };
}

export function standingNow(wait: ServiceWait, random: () => number): Standing {
  return standingOf(wait, Context.current().info.currentAttemptScheduledTimestampMs, random);
}
