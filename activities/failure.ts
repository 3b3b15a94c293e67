import { CompleteAsyncError, Context } from "@temporalio/activity";
import { ApplicationFailure, ApplicationFailureCategory, TemporalFailure } from "@temporalio/common";

import {
  type ServiceTrouble,
  type ServiceWait,
  STILL_WAITING,
  type TroubleDetails,
  troubleInWords,
} from "../src/contract/index.ts";
import { TransportError } from "../src/http/errors.ts";
import { LONGEST_QUOTA_PAUSE_MS, parseHttpDateMs, parseRetryAfterSeconds } from "../src/http/quota-headers.ts";
import { AnswerError } from "../src/http/service-call.ts";
import { LedgerUnavailableError } from "../src/ledger/index.ts";

/**
 * The one place where an error becomes a Temporal failure. A failed activity always means "try again after this pause";
 * whatever the workflow must decide upon is a result.
 */

const FIRST_PAUSE_MS = 1_000;
export const LONGEST_PAUSE_MS = 60_000;
/**
 * Of a pause of zero, as `Retry-After: 0` without jitter gives one, Temporal's server makes no attempt at once but the
 * end of all attempts (`RETRY_STATE_TIMEOUT`), and the workflow takes the call's answer for lost.
 */
const SHORTEST_PAUSE_MS = 100;

/** Exponential with full jitter, 1 s to 60 s (failure model). */
export function backoffMs(attempt: number, random: () => number): number {
  const ceiling = Math.min(FIRST_PAUSE_MS * 2 ** Math.min(attempt, 10), LONGEST_PAUSE_MS);
  return Math.round(FIRST_PAUSE_MS + random() * (ceiling - FIRST_PAUSE_MS));
}

/** Of a pause that a service in trouble asks for: after one of hours or days it is asked again sooner. */
const LONGEST_ASKED_MS = 60 * 60_000;

/** The pause after a call that met trouble: the own one, or the longer one that the service's Retry-After asks for. */
export function afterTroubleMs(ownMs: number, error: unknown, random: () => number): number {
  const askedMs = (retryAfterSecondsOf(error) ?? 0) * 1_000;
  if (askedMs <= ownMs) return ownMs;
  return Math.round(Math.min(askedMs, LONGEST_ASKED_MS) + random() * 2_000);
}

/** RFC 9110 (10.2.3) has it with a 503 and others too; also if the body could not be read. */
function retryAfterSecondsOf(error: unknown): number | undefined {
  if (error instanceof AnswerError) return error.meta.retryAfterSeconds;
  if (!(error instanceof TransportError) || !error.answered) return undefined;
  const { headers, atMs } = error.answered;
  return parseRetryAfterSeconds(headers, parseHttpDateMs(headers["date"]) ?? atMs);
}

/**
 * Retry-After plus jitter, so that all who were refused together do not come back together. No longer than the budget is
 * closed: whoever comes anew is sent then, and what was refused would stand behind it for a day.
 */
export function afterQuotaMs(retryAfterMs: number | undefined, random: () => number): number {
  return Math.round(Math.min(retryAfterMs ?? LONGEST_PAUSE_MS, LONGEST_QUOTA_PAUSE_MS) + random() * 2_000);
}

/**
 * Nothing has failed: the outside world is not there yet.
 * @param seen what this look has found, as a sentence
 */
export function stillWaiting(seen: string, pauseMs: number, trouble?: ServiceTrouble): ApplicationFailure {
  return retryAfter(STILL_WAITING, seen, pauseMs, trouble);
}

/** Gives what the activity lets through a retry delay: an outage of the ledger, or something unforeseen. */
export function asRetryable(error: unknown, attempt: number, random: () => number): unknown {
  if (error instanceof TemporalFailure || error instanceof CompleteAsyncError) return error;
  if (error instanceof Error && error.name === "AbortError") return error;
  const nextRetryDelay = backoffMs(attempt, random);
  if (error instanceof LedgerUnavailableError) return retryAfter("LedgerAway", error.message, nextRetryDelay);
  return ApplicationFailure.fromError(error, { nextRetryDelay });
}

/** In Temporal's UI beside a pending activity. `NotServed`: this process lacks what another one may have. */
type FailureType =
  | "Deferred"
  | "Transient"
  | "NotSent"
  | "UnknownKeyed"
  | "NotServed"
  | "LedgerAway"
  | typeof STILL_WAITING;

export function retryAfter(
  type: FailureType,
  said: string,
  pauseMs: number,
  trouble?: ServiceTrouble,
): ApplicationFailure {
  const nextRetryDelay = Math.max(pauseMs, SHORTEST_PAUSE_MS);
  const lead = type === STILL_WAITING ? "Still waiting; each attempt is one look. " : "";
  return ApplicationFailure.create({
    type,
    message: `${lead}${trouble ? `${progressOf(trouble, nextRetryDelay)} ` : ""}${said}`,
    nextRetryDelay,
    ...(trouble && { details: [{ trouble, said } satisfies TroubleDetails] }),
    ...((type === STILL_WAITING || type === "Deferred") && { category: ApplicationFailureCategory.BENIGN }),
  });
}

function progressOf(trouble: ServiceTrouble, pauseMs: number): string {
  const { attempt } = Context.current().info;
  return `${troubleInWords(trouble)}: attempt ${attempt}, the next after ${Math.ceil(pauseMs / 1_000)} s.`;
}

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
 * The pause before the next look grows with the age of the wait: what takes days costs a few calls a day
 * (docs/configuration.md). Jitter of a tenth keeps waits apart that began together.
 */
export function pollPauseMs(ageMs: number, bounds: PollBounds, random: () => number): number {
  const early = Math.min(Math.max(ageMs * SHARE_OF_FIRST_HOUR, bounds.firstPollMs), bounds.longestPollMs);
  const late = Math.min(ageMs * SHARE_AFTER_A_DAY, bounds.longestPollAfterDayMs);
  const pauseMs = ageMs < DAY_MS ? early : Math.max(early, late);
  return Math.round(pauseMs * (0.9 + random() * 0.2));
}

/** By the clock of the Temporal server, which is that of the workflow too. */
export function ageMs(sinceMs: number): number {
  return Context.current().info.currentAttemptScheduledTimestampMs - sinceMs;
}

const FIRST_OWN_PAUSE_MS = MINUTE_MS;
/** Each own try costs its workflow a dozen events, so the pauses between them grow by half of what was waited. */
const SHARE_OF_WAIT = 1 / 2;
const LONGEST_OWN_PAUSE_MS = 12 * HOUR_MS;

/** Looks cost no history. */
const SHARE_OF_AGE = 1 / 6;
const LONGEST_LOOK_PAUSE_MS = HOUR_MS / 2;
/** With its jitter, and until it is made: what waits for a key, or for a service, has looked within this time. */
export const LOOKED_WITHIN_MS = 1.1 * LONGEST_LOOK_PAUSE_MS + MINUTE_MS;

/** Where a wait for the service stands, by the clock of the Temporal server, which is the clock of its workflow too. */
export interface Standing {
  /** The call has been tried a moment ago, and nothing that is found out can make it worth another try before then. */
  tooSoonForMs: number;
  /** Until the call is worth a try of its own, whatever is found out; 0: it is. */
  ownTurnInMs: number;
  /** The pause before the next look, if this one brings nothing. */
  lookPauseMs: number;
}

export function standingOf({ triedAtMs, sinceMs }: ServiceWait, nowMs: number, random: () => number): Standing {
  const share = (triedAtMs - sinceMs) * SHARE_OF_WAIT;
  const pauseMs = Math.min(Math.max(share, FIRST_OWN_PAUSE_MS), LONGEST_OWN_PAUSE_MS);
  const inMs = (atMs: number): number => Math.max(atMs - nowMs, 0);
  const ownTurnInMs = inMs(triedAtMs + pauseMs);
  const early = Math.min(Math.max((nowMs - sinceMs) * SHARE_OF_AGE, FIRST_OWN_PAUSE_MS), LONGEST_LOOK_PAUSE_MS);
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
