import { type Business, UnexpectedAnswerError } from "../../src/compliance/index.ts";
import type { Branch, ComplianceActivities, Refusal } from "../../src/contract/index.ts";
import { refusalOf, throwIfRetryable } from "../classified-call.ts";
import { type ActivityContext, callAndClassify, ifMistyped, runtimeOf } from "./calls.ts";

type BranchRequest = Parameters<ComplianceActivities["readBranch"]>[0];

/**
 * A branch given by either of its names, resolved to both. Branches hardly ever change: one that was seen is not asked
 * for again.
 */
export function createBranchActivities(context: ActivityContext) {
  const seen = new Map<string, Business[]>();
  const unreadAnswers = new UnreadAnswers(context.nowMs, MOST_UNREAD);
  return {
    async readBranch(request) {
      const runtime = runtimeOf(context, request.connection);
      const known = findBranch(seen.get(request.connection) ?? [], request, runtime.profile.keyReach);
      if (known) return { kind: "branch", branch: known };
      const classified = await callAndClassify(runtime, "listBusinesses", request, () =>
        runtime.client.listBusinesses(),
      );
      const unread = unreadBusinesses(classified.error);
      if (classified.data) unreadAnswers.end(request.connection);
      if (unread && unreadAnswers.persist(request.connection)) return unread;
      throwIfRetryable(classified, context.random);
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
  } satisfies Partial<ComplianceActivities>;
}

const IF_BRANCH_MISTYPED = " If it is mistyped, and nothing is issued yet, cancel the sale and start it again.";

const SETTINGS = "businesses.id, businesses.branches, businesses.branchId or businesses.authorityId";

/**
 * So many answers in a row without the names of the dialect, over some seconds, are no passing trouble: they are shown,
 * and not waited for as an outage is. One that broke on the way is, and so is a hiccup that many sales meet at once.
 */
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

/**
 * After so long without another one, those before were somebody else's: another process had the answer, or the job was
 * cancelled. Far longer than the pauses between two tries, also where many workers share them.
 */
const FORGOTTEN_AFTER_MS = 30 * 60_000;

/**
 * Counts answers in a row that could not be read, by what was asked for. Answers, and not attempts: one that was put
 * off, lost its connection or was lost with its worker says nothing of what the service would answer. Each process
 * counts its own.
 */
export class UnreadAnswers {
  readonly #nowMs: () => number;
  readonly #most: number;
  /** How many, since when, and when the last one came (Unix milliseconds). */
  readonly #inARow = new Map<string, { count: number; sinceMs: number; lastMs: number }>();

  /** @param most so many in a row, over some seconds, are no passing trouble */
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

  /** There is an answer, or nothing waits for one any more. */
  end(askedFor: string): void {
    this.#inARow.delete(askedFor);
  }
}
