import type {
  BillPaymentsProgress,
  BillPaymentsSync,
  BillPaymentStatus,
  PreparedBillPaymentsSync,
  Refusal,
  SeenBillPayments,
} from "../../src/contract/index.ts";
import { callWithEscalation } from "../calls/tries.ts";
import type { Job } from "../job/job.ts";
import { type AccountingCalls, ledger } from "../proxies.ts";
import { afterComparison, type Position } from "./bill-payments-position.ts";

export interface SyncWork {
  job: Job<BillPaymentsProgress>;
  calls: AccountingCalls;
  sync: BillPaymentsSync;
  statuses: readonly BillPaymentStatus[];
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
export function roundName(
  { syncId }: BillPaymentsSync,
  { round, draw = "" }: Pick<Position, "round" | "draw">,
): string {
  return `${syncId}#${round} ${draw}`;
}

/**
 * Whether the service gives the list of all where that of a status is asked for, as one does that does not know the filter's name (it is
 * not shown). The status is no field of a payment, so that no page tells it; but then one payment is listed under two statuses, and under the first
 * again: a payment that goes its way between two looks does not come back. Looked for before anything is kept: every payment
 * would take every status in turn.
 */
export async function ignoredStatusFilter(
  job: Job<BillPaymentsProgress>,
  { read }: Pick<AccountingCalls, "read">,
  { profile, statuses }: Pick<PreparedBillPaymentsSync, "profile" | "statuses">,
): Promise<Refusal | undefined> {
  const [one, other] = [statuses.at(0), statuses.at(-1)];
  if (one === undefined || other === undefined || one === other) return undefined;
  const { connection } = profile;
  const listedAs = async (status: BillPaymentStatus): Promise<string[]> =>
    (await callWithEscalation(job, () => read.sampleBillPayments({ connection, status }))).ids;
  job.moveOn("a look whether the service tells statuses apart");
  const first = await listedAs(one);
  const inBoth = first.length === 0 ? [] : common(first, await listedAs(other));
  const [id] = inBoth.length === 0 ? [] : common(inBoth, await listedAs(one));
  if (id === undefined) return undefined;
  const message =
    `The bill payment "${id}" was listed as \`${one}\`, then as \`${other}\`, then as \`${one}\` again: the service does not filter by ` +
    "status. Give billPayments.status of ACCOUNTING_DIALECT the service's name for it, or null where there is none.";
  return { kind: "refused", attention: "unexpected-answer", message };
}

function common(some: readonly string[], others: readonly string[]): string[] {
  return some.filter((id) => others.includes(id));
}
