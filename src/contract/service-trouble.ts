import { nairobiTime } from "./nairobi-date.ts";
import type { CallTarget } from "./connection.ts";

/**
 * What keeps the API, or the accounting service, from serving calls, as far as somebody has seen it.
 *
 * - `away`: no answer, or a 5xx
 * - `rate-limited`: 429
 * - `refused`: the key, or what it may do
 * - `held-back`: the request budget has kept calls back, unsent, and nothing else is known of the API
 * - `slow`: an attempt of a call goes on for seconds. Only a look at Temporal shows it, and cannot tell it from a
 *   worker that is gone
 */
export interface ServiceTrouble {
  kind: "away" | "rate-limited" | "held-back" | "refused" | "slow";
  /** Absent: the API. */
  service?: "accounting";
  /** Since when no call has shown otherwise (Unix milliseconds). */
  sinceMs: number;
  /** The process that saw it has not seen the API without it: it may have begun earlier. */
  orEarlier?: true;
}

const WORDS: Readonly<Record<ServiceTrouble["kind"], (service: string) => string>> = {
  away: (service) => `${service} has been away`,
  "rate-limited": (service) => `${service} has been rate limiting`,
  "held-back": () => "The request budget has held calls back",
  refused: (service) => `${service} has refused the key`,
  slow: (service) => `${service} is slow, or a worker is gone: a call has been under way`,
};

/** As a sentence without its full stop; the same words everywhere. */
export function troubleInWords({ kind, service, sinceMs, orEarlier }: ServiceTrouble): string {
  const what = WORDS[kind](service === "accounting" ? "The accounting service" : "The API");
  return `${what} ${orEarlier ? "at least " : ""}since ${nairobiTime(sinceMs)}`;
}

/** Of several that hold up the same work: the one that began first. */
export function firstTrouble(troubles: readonly (ServiceTrouble | undefined)[]): ServiceTrouble | undefined {
  return troubles.filter((trouble) => trouble !== undefined).toSorted((a, b) => a.sinceMs - b.sinceMs)[0];
}

/** Type of the failure of an attempt that looked, and has not seen what it waits for: nothing has failed. */
export const STILL_WAITING = "StillWaiting";

export interface TroubleDetails {
  trouble: ServiceTrouble;
  /** What this attempt came to, without the words of the trouble. */
  said: string;
}

export interface ServiceWait {
  /** When it was tried last, and since when in vain (Unix milliseconds): its own tries become rarer with its age. */
  triedAtMs: number;
  sinceMs: number;
  /** What the key was refused; absent if the call was put off, or its answer lost. */
  refused?: { status?: number; operation?: string };
}

export interface AwaitServiceRequest extends CallTarget, ServiceWait {}

/**
 * The activities of `ComplianceActivities`: each is one call to the API, or a wait whose attempts are such calls. By
 * name, since the client's package has no activities.
 */
export const COMPLIANCE_CALLS = [
  "readItems",
  "awaitItems",
  "awaitService",
  "readBranch",
  "registerItem",
  "createSale",
  "createCreditNote",
  "readDocument",
  "awaitDocument",
  "retryDocument",
  "keepDocument",
  "adjustStock",
  "planRegistrations",
  "pullPurchases",
  "keepPurchasesPage",
  "reconcileDocument",
] as const;

export const ACCOUNTING_CALLS = [
  "keepBillPaymentsPage",
  "sampleBillPayments",
  "processSyncBatch",
  "awaitAccounting",
] as const;

export function calledService(activityType: string): "compliance" | "accounting" | undefined {
  if ((COMPLIANCE_CALLS as readonly string[]).includes(activityType)) return "compliance";
  return (ACCOUNTING_CALLS as readonly string[]).includes(activityType) ? "accounting" : undefined;
}
