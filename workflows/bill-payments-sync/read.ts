import type {
  BillPaymentsPageRequest,
  BillPaymentsProgress,
  BillPaymentsSync,
  BillPaymentStatus,
} from "../../src/contract/index.ts";
import type { accountingCallsOf } from "../accounting-proxies.ts";
import type { Job } from "../job/job.ts";
import { ledger } from "../proxies.ts";
import { answered } from "../run/answered.ts";
import { afterComparison, afterPage, type Position } from "./position.ts";

export interface SyncWork {
  job: Job<BillPaymentsProgress>;
  calls: ReturnType<typeof accountingCallsOf>;
  sync: BillPaymentsSync;
  statuses: readonly BillPaymentStatus[];
}

/** Reads the next page into the ledger. */
export async function readPage(work: SyncWork, position: Position): Promise<Position> {
  const { job, calls, statuses } = work;
  const request = requestOf(work, position);
  const list = request.status === undefined ? "all payments" : `what is \`${request.status}\``;
  job.moveOn(`page ${request.page} of ${list}${request.order === "latest" ? ", by latest change" : ""}`);
  const page = await answered(job, () => calls.read.keepBillPaymentsPage(request));
  const { pages, rows, added, changed } = job.progress;
  job.progress = {
    ...job.progress,
    pages: pages + 1,
    rows: rows + page.rows,
    added: added + page.added,
    changed: changed + page.changed,
  };
  const next = afterPage(position, page, 1 + statuses.length);
  job.progress = { ...job.progress, round: next.round };
  return next;
}

/** Whether what was read says the same of everything, and the service counts what the ledger holds. */
export async function compare(work: SyncWork, position: Position): Promise<Position> {
  const { job, sync, statuses } = work;
  const { totals, round, roundStartedAtMs, reachMs } = position;
  job.moveOn("the comparison of what was read");
  const { connection, kind } = sync;
  const withStatuses = statuses.length > 0;
  const startedAtMs = roundStartedAtMs ?? 0;
  const comparison =
    kind === "full"
      ? await ledger.compareBillPaymentsRound({
          connection,
          round: roundName(sync, round),
          startedAtMs,
          reachMs,
          withStatuses,
        })
      : { missedByList: 0, missedByStatuses: 0, ...(await ledger.billPaymentsHeld({ connection })) };
  const counted = [comparison.total, ...statuses.map((status) => comparison.byStatus[status] ?? 0)];
  const sameCounts = counted.every((count, list) => count === totals[list]);
  const agrees = sameCounts && comparison.missedByList === 0 && comparison.missedByStatuses === 0;
  const next = afterComparison(position, kind, agrees);
  job.progress = { ...job.progress, round: next.round };
  return next;
}

export function roundName({ syncId }: BillPaymentsSync, round: number): string {
  return `${syncId}#${round}`;
}

function requestOf({ sync, statuses }: SyncWork, { phase, round, list, page }: Position): BillPaymentsPageRequest {
  const status = list === 0 ? undefined : statuses[list - 1];
  const { connection } = sync;
  if (phase === "round") return { connection, order: "created", status, page, round: roundName(sync, round) };
  return { connection, order: "latest", status, page };
}
