import { Context } from "@temporalio/activity";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

export interface PollBounds {
  firstPollMs: number;
  /** Reached within the first hour. */
  longestPollMs: number;
  /** Reached some time after a day. */
  longestPollAfterDayMs: number;
}

/** The part of its age that a wait pauses for: a sixth in the first hour, a twenty-fourth later. */
const SHARE_OF_FIRST_HOUR = 1 / 6;
const SHARE_AFTER_A_DAY = 1 / 24;

/**
 * The pause before the next look at something that has been waited for this long: growing with the age, so that what
 * comes soon is seen soon, and what takes days costs a few calls a day (docs/configuration.md). Jitter of a tenth keeps
 * waits apart that began together.
 */
export function pollPauseMs(ageMs: number, bounds: PollBounds, random: () => number): number {
  const early = Math.min(Math.max(ageMs * SHARE_OF_FIRST_HOUR, bounds.firstPollMs), bounds.longestPollMs);
  const late = Math.min(ageMs * SHARE_AFTER_A_DAY, bounds.longestPollAfterDayMs);
  const pauseMs = ageMs < DAY_MS ? early : Math.max(early, late);
  return Math.round(pauseMs * (0.9 + random() * 0.2));
}

/**
 * How long this activity's wait has lasted, by the clock of the Temporal server, which is the clock of its workflow
 * too.
 */
export function ageMs(sinceMs: number): number {
  return Context.current().info.currentAttemptScheduledTimestampMs - sinceMs;
}
