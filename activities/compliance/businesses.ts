import { type Business, SHOWN_OPERATIONS } from "../../src/compliance/index.ts";
import { UnexpectedAnswerError } from "../../src/http/service-call.ts";
import type {
  AwaitServiceRequest,
  Branch,
  ComplianceActivities,
  Refusal,
  ServiceTrouble,
} from "../../src/contract/index.ts";
import { refusalOf, throwIfRetryable } from "../classified-call.ts";
import {
  type ActivityContext,
  callAndClassify,
  type ComplianceRuntime,
  ifMistyped,
  keyCallOf,
  runtimeOf,
} from "./calls.ts";
import { KeyHeldError } from "../credential-circuit-breaker.ts";
import { afterTroubleMs, type Standing, standingNow, stillWaiting } from "../failure.ts";

type BranchRequest = Parameters<ComplianceActivities["readBranch"]>[0];

/** A branch given by either of its names, resolved to both. One that was seen is not asked for again. */
export function createBusinessActivities(context: ActivityContext) {
  const seen = new Map<string, Business[]>();
  const unreadAnswers = new UnreadAnswers(context.nowMs, MOST_UNREAD);
  const { random } = context;
  return {
    async readBranch(request) {
      const runtime = runtimeOf(context, request.connection);
      const known = findBranch(seen.get(request.connection) ?? [], request, runtime.profile.keyReach);
      if (known) return { kind: "branch", branch: known };
      const classified = await callAndClassify(runtime, "readBranch", request, () => runtime.client.listBusinesses());
      const unread = unreadBusinesses(classified.error);
      if (classified.data) unreadAnswers.end(request.connection);
      if (unread && unreadAnswers.persist(request.connection)) return unread;
      throwIfRetryable(classified, random);
      if (!classified.data) return refusalOf(classified);
      seen.set(request.connection, classified.data);
      const branch = findBranch(classified.data, request, runtime.profile.keyReach);
      if (branch) return { kind: "branch", branch };
      const isListed = classified.data.some(({ id }) => id === request.businessId);
      const message =
        `The business has no branch "${request.branch}".${isListed ? IF_BRANCH_MISTYPED : ifMistyped(runtime, request)} If it has one, the API uses other names than the dialect: set ` +
        `${SETTINGS} in COMPLIANCE_DIALECT.`;
      return {
        kind: "refused",
        attention: "not-found",
        message,
        details: { branches: branchesOf(classified.data, request, runtime.profile.keyReach) },
      };
    },

    /**
     * The wait of whatever the service does not take now (docs/decisions/0013). A refused key is asked for by a read that
     * changes nothing. What a key may not do only a call of that kind can find out: the wait ends with the first one that
     * is accepted, of whichever workflow, and now and then for a try of its own.
     */
    async awaitService(request) {
      const runtime = runtimeOf(context, request.connection);
      const standing = standingNow(request, random);
      const trouble = troubleOf(runtime, request);
      if (standing.tooSoonForMs > 0) throw stillWaiting("It was tried a moment ago.", standing.tooSoonForMs, trouble);
      const { refused } = request;
      if (refused?.status === 401) {
        if (runtime.credentialBreaker.acceptedAfter(request.triedAtMs)) return;
        await lookedAtKey(runtime, request, standing, random);
      } else if (refused) {
        const operation = SHOWN_OPERATIONS.find((name) => name === refused.operation);
        const call = operation && keyCallOf(operation, request);
        if (call && runtime.credentialBreaker.acceptedAfter(request.triedAtMs, call)) return;
        const held = call !== undefined && runtime.credentialBreaker.holds(call);
        if (held || standing.ownTurnInMs > 0) throw stillWaiting("The key is refused.", standing.lookPauseMs, trouble);
      } else {
        if (standing.ownTurnInMs > 0) throw stillWaiting("It was tried a while ago.", standing.ownTurnInMs, trouble);
        await lookedAtKey(runtime, request, standing, random);
      }
    },
  } satisfies Partial<ComplianceActivities>;
}

const IF_BRANCH_MISTYPED = " If it is mistyped, and nothing is issued yet, cancel the sale and start it again.";

const SETTINGS = "businesses.id, businesses.branches, businesses.branchId or businesses.authorityId";

/** So many in a row without the names of the dialect are shown, and not waited for as an outage is. */
export const MOST_UNREAD = 3;

function unreadBusinesses(error: unknown): Refusal | undefined {
  if (!(error instanceof UnexpectedAnswerError) || error.status !== 200 || error.issues.length === 0) return undefined;
  const message =
    `${error.message}. The API's document does not show the names of this answer: set businesses.list, ${SETTINGS} in ` +
    "COMPLIANCE_DIALECT.";
  return { kind: "refused", attention: "not-found", message, status: error.status, details: { issues: error.issues } };
}

function findBranch(
  businesses: readonly Business[],
  request: BranchRequest,
  reach: "organisation" | "business",
): Branch | undefined {
  return branchesOf(businesses, request, reach).find(
    ({ id, authorityBhfId }) => id === request.branch || authorityBhfId === request.branch,
  );
}

/** A key that is bound to one business sees that one alone, whatever it is called here. */
function branchesOf(
  businesses: readonly Business[],
  { businessId }: BranchRequest,
  reach: "organisation" | "business",
): Branch[] {
  const meant = reach === "business" ? businesses : businesses.filter(({ id }) => id === businessId);
  return meant.flatMap(({ branches }) => branches);
}

/** Over fewer seconds it is a hiccup that many callers meet at once. */
export const PASSING_MS = 5_000;

/** After so long those before were somebody else's: another process had the answer, or the job was cancelled. */
const FORGOTTEN_AFTER_MS = 30 * 60_000;

/**
 * Counts answers in a row that could not be read, by what was asked for: answers, not attempts. Each process counts its
 * own.
 */
export class UnreadAnswers {
  readonly #nowMs: () => number;
  readonly #most: number;
  readonly #inARow = new Map<string, { count: number; sinceMs: number; lastMs: number }>();

  constructor(nowMs: () => number, most: number) {
    this.#nowMs = nowMs;
    this.#most = most;
  }

  /** One more: whether they are no passing trouble by now. */
  persist(askedFor: string): boolean {
    const nowMs = this.#nowMs();
    for (const [one, { lastMs }] of this.#inARow) if (nowMs - lastMs > FORGOTTEN_AFTER_MS) this.#inARow.delete(one);
    const { count, sinceMs } = this.#inARow.get(askedFor) ?? { count: 0, sinceMs: nowMs };
    this.#inARow.set(askedFor, { count: count + 1, sinceMs, lastMs: nowMs });
    return count + 1 >= this.#most && nowMs - sinceMs >= PASSING_MS;
  }

  end(askedFor: string): void {
    this.#inARow.delete(askedFor);
  }
}

/** Returns once the service answers, and takes the key. */
async function lookedAtKey(
  runtime: ComplianceRuntime,
  request: AwaitServiceRequest,
  { lookPauseMs }: Standing,
  random: () => number,
): Promise<void> {
  // Whatever names it has: the API's document does not show them, and a wait that reads them may never end.
  const look = () => runtime.client.listBusinessesAsSent();
  const classified = await callAndClassify(runtime, "awaitService", request, look);
  const { meaning, error, message } = classified;
  if (meaning.kind === "transient") {
    throw stillWaiting(message, afterTroubleMs(lookPauseMs, classified.error, random), classified.trouble);
  }
  throwIfRetryable(classified, random);
  if (meaning.kind !== "configuration") return;
  const held = error instanceof KeyHeldError ? error : undefined;
  // A key that may not list businesses is a good key.
  if (request.refused === undefined || refusalOf(classified).status !== 401) return;
  const pauseMs = Math.round(Math.max(lookPauseMs, held?.heldForMs ?? 0));
  throw stillWaiting(message, pauseMs, troubleOf(runtime, request));
}

/** Since when the key is refused the waiting workflow knows best: it outlives this process. */
function troubleOf({ health }: ComplianceRuntime, request: AwaitServiceRequest): ServiceTrouble | undefined {
  return request.refused ? { kind: "refused", sinceMs: request.sinceMs } : health.trouble;
}
