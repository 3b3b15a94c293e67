import { uuid4 } from "@temporalio/workflow";

import type {
  BillPaymentsPageRequest,
  BillPaymentsProgress,
  BillPaymentsSync,
  BillPaymentStatus,
  SeenBillPayments,
} from "../../src/contract/index.ts";
import { type AccountingCalls, ledger } from "../proxies.ts";
import type { Job } from "../job/job.ts";
import { withPage } from "../job/page-progress.ts";
import { callWithEscalation } from "../calls/tries.ts";
import { afterComparison, afterPage, type Position } from "./position.ts";

export interface SyncWork {
  job: Job<BillPaymentsProgress>;
  calls: AccountingCalls;
  sync: BillPaymentsSync;
  statuses: readonly BillPaymentStatus[];
}

/** Reads the next page into the ledger. */
export async function readPage(work: SyncWork, before: Position): Promise<Position> {
  const { job, calls, statuses } = work;
  const position = before.phase === "round" ? withDraw(before) : before;
  const request = requestOf(work, position);
  const list = request.status === undefined ? "all payments" : `what is \`${request.status}\``;
  job.moveOn(`page ${request.page} of ${list}${request.order === "latest" ? ", by latest change" : ""}`);
  const page = await callWithEscalation(job, () => calls.read.keepBillPaymentsPage(request));
  job.progress = withPage(job.progress, page);
  const next = afterPage(position, page, 1 + statuses.length);
  job.progress = { ...job.progress, round: next.round };
  return next;
}

/** Whether what was read is all that there is. */
export async function compare(work: SyncWork, position: Position): Promise<Position> {
  const { job, sync } = work;
  job.moveOn("the comparison of what was read");
  const wholeSinceMs = sync.kind === "full" ? await wholeSince(work, position) : await asHeld(work, position);
  const next = afterComparison(position, sync.kind, wholeSinceMs);
  job.progress = { ...job.progress, round: next.round };
  return next;
}

/**
 * The round's passes agree with each other and with the service's counts; or, from the second round on, all that any round has seen is as
 * many as the service counts, in all and of each status: where a sort field does not tell payments apart, a service may give them in another order at
 * every request, and no single pass need see them all.
 */
async function wholeSince({ sync, statuses }: SyncWork, position: Position): Promise<number | undefined> {
  const { round, startedAtMs = 0, roundStartedAtMs = 0, reachMs, leftOut = [] } = position;
  // The service counts what the ledger cannot have.
  const totals = position.totals.map((total, list) => total - (leftOut[list] ?? 0));
  const { missedByList, missedByStatuses, sinceRound, sinceStart } = await ledger.compareBillPaymentsRound({
    connection: sync.connection,
    round: roundName(sync, position),
    startedAtMs: roundStartedAtMs,
    syncStartedAtMs: startedAtMs,
    reachMs,
    withStatuses: statuses.length > 0,
  });
  const roundAgrees = missedByList === 0 && missedByStatuses === 0 && isCounted(sinceRound, statuses, totals);
  if (roundAgrees) return roundStartedAtMs;
  return round > 1 && isCounted(sinceStart, statuses, totals) ? startedAtMs : undefined;
}

async function asHeld({ sync, statuses }: SyncWork, { totals }: Position): Promise<number | undefined> {
  const held = await ledger.billPaymentsHeld({ connection: sync.connection });
  return isCounted(held, statuses, totals) ? 0 : undefined;
}

/** @param totals as the service counts each list, that of all first */
function isCounted(
  { total, byStatus }: SeenBillPayments,
  statuses: readonly BillPaymentStatus[],
  totals: readonly number[],
): boolean {
  return [total, ...statuses.map((status) => byStatus[status] ?? 0)].every((count, list) => count === totals[list]);
}

/** The same for all pages of a round, also of a run that was reset within it. */
export function roundName({ syncId }: BillPaymentsSync, { round, draw = "" }: Position): string {
  return `${syncId}#${round} ${draw}`;
}

/** A run that was reset to before a round begins it anew under another name: what its predecessor listed is not of its passes. */
function withDraw(position: Position): Position {
  return position.draw === undefined ? { ...position, draw: uuid4() } : position;
}

function requestOf({ sync, statuses }: SyncWork, position: Position): BillPaymentsPageRequest {
  const { phase, list, page } = position;
  const status = list === 0 ? undefined : statuses[list - 1];
  const { connection } = sync;
  if (phase === "round") return { connection, order: "created", status, page, round: roundName(sync, position) };
  return { connection, order: "latest", status, page };
}
