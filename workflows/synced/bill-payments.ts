import { condition, continueAsNew, defineSignal, uuid4, workflowInfo } from "@temporalio/workflow";

import {
  type BillPaymentsPageRequest,
  type BillPaymentsProgress,
  type BillPaymentsSync,
  type BillPaymentStatus,
  type PreparedBillPaymentsSync,
  type Refusal,
  type SeenBillPayments,
  SIGNALS,
  type SyncBillPaymentsInput,
  type SyncBillPaymentsOutcome,
  type SyncRequested,
  WORKFLOW_TYPES,
} from "../../src/contract/index.ts";
import { callWithEscalation, isRefusal } from "../calls/between-tries.ts";
import { type Job, runJobToCompletion } from "../job/job.ts";
import { type AccountingCalls, accountingCallsOf, ledger, main } from "../proxies.ts";
import { everyUpdateIsAnswered, onSignal } from "../sdk/interceptors.ts";
import { afterComparison, afterPage, beginning, type Position } from "./bill-payments-position.ts";
import { whyEndless, withPage } from "./endless-list.ts";
import { countPage, countsOf, syncJob, synchronise } from "./synchronise.ts";

/** What was asked for while it ran, and is not answered by what it reads from here on. */
type Wanted = "nothing" | "recent" | "full";

/** A synchronisation that has begun, over however many runs. */
interface UnderWay {
  prepared: PreparedBillPaymentsSync;
  syncId: string;
  position: Position;
  progress: BillPaymentsProgress;
  wanted: Wanted;
}

/** What a run hands to the next one. */
interface Carried {
  /**
   * How many synchronisations have come to their end, one after the other, each asked for while the one before it ran.
   */
  done: number;
  /** Absent: the next one is to begin. */
  underWay?: UnderWay;
}

const syncRequested = defineSignal<[SyncRequested?]>(SIGNALS.syncRequested);

/**
 * Brings the ledger up to the bill payments that the accounting service lists. Rows go from the service into the ledger
 * by the activity that reads them and never through the history (docs/decisions/0010).
 */
export async function syncBillPayments(
  input: SyncBillPaymentsInput,
  { done, underWay }: Carried = { done: 0 },
): Promise<SyncBillPaymentsOutcome> {
  const progress = underWay?.progress ?? { kind: "recent", round: 0, pages: 0, rows: 0, added: 0, changed: 0 };
  const job = syncJob(WORKFLOW_TYPES.syncBillPayments, progress, describeProgress);
  let wanted: Wanted = underWay?.wanted ?? "nothing";
  onSignal(syncRequested, (request) => {
    if (wanted !== "full") wanted = request?.full === true ? "full" : "recent";
  });
  return await runJobToCompletion(async () => {
    const started = underWay ?? (await begin(job, input, done));
    const work = contextOf(job, started);
    return await synchronise(job, {
      start: started.position,
      isThrough: ({ phase }) => phase === "complete",
      async step(position) {
        if (isAnsweredFrom(position, wanted)) wanted = "nothing";
        return position.phase === "compare" ? await compare(work, position) : await readList(work, position);
      },
      goOnAnew: (position) =>
        continueAsNew<typeof syncBillPayments>(input, {
          done,
          underWay: { ...started, position, progress: job.progress, wanted },
        }),
      async complete(position) {
        const held = await complete(work, position);
        if (wanted !== "nothing") {
          job.moveOn("another synchronisation, which was asked for meanwhile");
          await condition(everyUpdateIsAnswered);
          await continueAsNew<typeof syncBillPayments>({ ...input, full: wanted === "full" }, { done: done + 1 });
        }
        return { ...held, settled: position.settled };
      },
    });
  });
}

/** Without known ground there is nothing that a recent synchronisation could stop at: then everything is read. */
async function begin(job: Job<BillPaymentsProgress>, input: SyncBillPaymentsInput, done: number): Promise<UnderWay> {
  // Prepared anew after each look that found the filter ignored: the dialect may have another name for it by then, or
  // none.
  const prepared = await callWithEscalation(job, async () => {
    const known = await main.prepareSyncBillPayments("Check the request and find the connection", { input });
    return (await ignoredStatusFilter(job, accountingCallsOf(job, known.profile), known)) ?? known;
  });
  const { workflowId, firstExecutionRunId } = workflowInfo();
  // Not of the run: one that was reset goes on with the synchronisation that its predecessor has begun.
  const syncId = `${workflowId} ${firstExecutionRunId}${done === 0 ? "" : ` ${done + 1}`}`;
  const { connection } = prepared.profile;
  const asked = { connection, syncId, kind: prepared.kind };
  const { kind, ...ground } = await ledger.beginBillPaymentsSync("Begin the synchronisation in the ledger", asked);
  const position = beginning(kind, ground);
  job.moveOn("its turn", { kind });
  return { prepared: { ...prepared, kind }, syncId, position, progress: job.progress, wanted: "nothing" };
}

/** What is read from here on has whatever had changed when it was asked for. */
function isAnsweredFrom({ phase, list, page }: Position, wanted: Wanted): boolean {
  return phase === "ground" || (wanted === "recent" && phase === "latest" && list === 0 && page === 1);
}

type SyncWork = ReturnType<typeof contextOf>;

function contextOf(job: Job<BillPaymentsProgress>, { prepared, syncId }: UnderWay) {
  const { profile, kind, statuses } = prepared;
  const sync: BillPaymentsSync = { connection: profile.connection, syncId, kind };
  return { job, calls: accountingCallsOf(job, profile), sync, statuses };
}

/** Reads the next page into the ledger. */
async function readList(work: SyncWork, before: Position): Promise<Position> {
  const { job, calls, statuses } = work;
  // A run that was reset to before a round begins it anew under another name: what its predecessor listed is not of its
  // passes.
  const isOfNewRound = before.phase === "round" && before.draw === undefined;
  const position = isOfNewRound ? { ...before, draw: uuid4() } : before;
  const request = requestOf(work, position);
  const list = request.status === undefined ? "all payments" : `what is ${request.status}`;
  const what = `page ${request.page} of ${list}${request.order === "latest" ? ", by latest change" : ""}`;
  job.moveOn(what);
  let pagesRead = position.pagesRead;
  const page = await callWithEscalation(job, async () => {
    const result = await calls.read.keepBillPaymentsPage(`Read ${what}`, request);
    if (isRefusal(result)) return result;
    pagesRead = withPage(pagesRead, `${position.phase} ${position.round} ${position.list}`, result);
    const endless = result.hasNextPage ? whyEndless(pagesRead) : undefined;
    if (endless === undefined) return result;
    // A retry reads on, for as many pages as before.
    pagesRead = undefined;
    return isEndless(`${endless}: ${what} was the last that was read; its \`total\` is ${result.total}.`);
  });
  countPage(job, page);
  const next = afterPage(position, page, 1 + statuses.length);
  job.progress = { ...job.progress, round: next.round };
  return { ...next, pagesRead };
}

function isEndless(what: string): Refusal {
  const message = `${what} Look at billPayments.page of ACCOUNTING_DIALECT; a retry reads on.`;
  return { kind: "refused", attention: "unexpected-answer", message };
}

function requestOf({ sync, statuses }: SyncWork, position: Position): BillPaymentsPageRequest {
  const { phase, list, page } = position;
  const status = list === 0 ? undefined : statuses[list - 1];
  const { connection } = sync;
  if (phase === "round") return { connection, order: "created", status, page, round: roundName(sync, position) };
  return { connection, order: "latest", status, page };
}

/** Whether what was read is all that there is. */
async function compare(work: SyncWork, position: Position): Promise<Position> {
  const { job, sync } = work;
  job.moveOn("the comparison of what was read");
  const { totals, leftOut = [] } = position;
  // The service counts what the ledger cannot have.
  const readable = totals.map((total, list) => total - (leftOut[list] ?? 0));
  const wholeSinceMs = sync.kind === "full" ? await wholeSince(work, position, readable) : await asHeld(work, readable);
  const next = afterComparison(position, sync.kind, wholeSinceMs);
  job.progress = { ...job.progress, round: next.round };
  return next;
}

/**
 * The round's passes agree with each other and with the service's counts; or, from the second round on, all that any
 * round has seen is as many as the service counts, in all and of each status: where a sort field does not tell payments
 * apart, a service may give them in another order at every request, and no single pass need see them all.
 */
async function wholeSince(
  { sync, statuses }: SyncWork,
  position: Position,
  totals: readonly number[],
): Promise<number | undefined> {
  const { round, startedAtMs = 0, roundStartedAtMs = 0, reachMs } = position;
  const { missedByList, missedByStatuses, sinceRound, sinceStart } = await ledger.compareBillPaymentsRound(
    "Compare what was read with the ledger",
    {
      connection: sync.connection,
      round: roundName(sync, position),
      startedAtMs: roundStartedAtMs,
      syncStartedAtMs: startedAtMs,
      reachMs,
      withStatuses: statuses.length > 0,
    },
  );
  const roundAgrees = missedByList === 0 && missedByStatuses === 0 && isCounted(sinceRound, statuses, totals);
  if (roundAgrees) return roundStartedAtMs;
  return round > 1 && isCounted(sinceStart, statuses, totals) ? startedAtMs : undefined;
}

async function asHeld({ sync, statuses }: SyncWork, totals: readonly number[]): Promise<number | undefined> {
  const held = await ledger.billPaymentsHeld("Count the payments in the ledger", { connection: sync.connection });
  return isCounted(held, statuses, totals) ? 0 : undefined;
}

/** @param totals as the service counts each list, that of all first, without rows that could not be read */
function isCounted(
  { total, byStatus }: SeenBillPayments,
  statuses: readonly BillPaymentStatus[],
  totals: readonly number[],
): boolean {
  return [total, ...statuses.map((status) => byStatus[status] ?? 0)].every((count, list) => count === totals[list]);
}

/** The same for all pages of a round, also of a run that was reset within it. */
function roundName({ syncId }: BillPaymentsSync, { round, draw = "" }: Pick<Position, "round" | "draw">): string {
  return `${syncId}#${round} ${draw}`;
}

/**
 * Whether the service gives the list of all where that of a status is asked for, as one does that does not know the
 * filter's name (it is not shown). The status is no field of a payment, so that no page tells it; but then one payment
 * is listed under two statuses, and under the first again: a payment that goes its way between two looks does not come
 * back. Looked for before anything is kept: every payment would take every status in turn.
 */
async function ignoredStatusFilter(
  job: Job<BillPaymentsProgress>,
  { read }: Pick<AccountingCalls, "read">,
  { profile, statuses }: Pick<PreparedBillPaymentsSync, "profile" | "statuses">,
): Promise<Refusal | undefined> {
  const [one, other] = [statuses.at(0), statuses.at(-1)];
  if (one === undefined || other === undefined || one === other) return undefined;
  const { connection } = profile;
  const listedAs = async (status: BillPaymentStatus): Promise<string[]> =>
    (await callWithEscalation(job, () => read.sampleBillPayments(`Read what is ${status}`, { connection, status })))
      .ids;
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

async function complete(
  { sync }: SyncWork,
  { settled, topMs, leftOut, wholeSinceMs, unidentified, ...position }: Position,
) {
  const fullRound =
    sync.kind === "full" && wholeSinceMs !== undefined && !unidentified
      ? { name: roundName(sync, position), startedAtMs: wholeSinceMs }
      : undefined;
  const result = { ...sync, settled, knownUntilMs: topMs, leftOut, round: fullRound };
  return await ledger.completeBillPaymentsSync("Complete the synchronisation in the ledger", result);
}

function describeProgress(progress: BillPaymentsProgress): string[] {
  const { kind, round } = progress;
  const again = round > 1 ? `, for the ${round}. time, since payments moved between pages while they were read` : "";
  const reads = kind === "full" ? `Reads every payment${again}` : "Reads what changed last, until known ground";
  return [reads, ...countsOf(progress, "payments")];
}
