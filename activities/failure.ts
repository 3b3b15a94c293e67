import { CompleteAsyncError, Context } from "@temporalio/activity";
import { ApplicationFailure, ApplicationFailureCategory, TemporalFailure } from "@temporalio/common";

import { type ServiceTrouble, STILL_WAITING, type TroubleDetails, troubleInWords } from "../src/contract/index.ts";
import { AnswerError, TransportError } from "../src/http/errors.ts";
import { parseHttpDateMs, parseRetryAfterSeconds } from "../src/http/quota-headers.ts";
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

/** Of a pause that a service in trouble asks for: a word of hours or days is asked about again. */
const LONGEST_ASKED_MS = 60 * 60_000;

/** The pause after a call that met trouble: the own one, or the longer one that the service's Retry-After asks for. */
export function afterTroubleMs(ownMs: number, error: unknown, random: () => number): number {
  const askedMs = (retryAfterSecondsOf(error) ?? 0) * 1_000;
  if (askedMs <= ownMs) return ownMs;
  return Math.round(Math.min(askedMs, LONGEST_ASKED_MS) + random() * 2_000);
}

/** RFC 9110 (10.2.3) has it with a 503 and others too; also where the body could not be read. */
function retryAfterSecondsOf(error: unknown): number | undefined {
  if (error instanceof AnswerError) return error.meta.retryAfterSeconds;
  if (!(error instanceof TransportError) || !error.answered) return undefined;
  const { headers, atMs } = error.answered;
  return parseRetryAfterSeconds(headers, parseHttpDateMs(headers["date"]) ?? atMs);
}

/** Retry-After plus jitter, so that all who were refused together do not come back together. */
export function afterQuotaMs(retryAfterMs: number | undefined, random: () => number): number {
  return Math.round((retryAfterMs ?? LONGEST_PAUSE_MS) + random() * 2_000);
}

/**
 * The outside world is not there yet. Temporal's UI shows an attempt that fails again and again: the message says that
 * nothing has failed.
 * @param seen what this look has found, as a sentence
 */
export function stillWaiting(seen: string, pauseMs: number, trouble?: ServiceTrouble): ApplicationFailure {
  return retryAfter(STILL_WAITING, seen, pauseMs, trouble);
}

/**
 * Gives an error that the activity lets through a retry delay: an outage of the ledger, which may so last for hours
 * without adding history, and whatever is unforeseen (a defect, or a fault of the environment). A cancellation and
 * every Temporal failure stay as they are.
 */
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

/** @param trouble what is wrong with the service; those who look at the pending activity read it first */
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
