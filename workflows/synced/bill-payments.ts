import { condition, continueAsNew, defineSignal, setHandler, uuid4, workflowInfo } from "@temporalio/workflow";

import {
  type BillPaymentsPageRequest,
  type BillPaymentsProgress,
  type PreparedBillPaymentsSync,
  SIGNALS,
  type SyncBillPaymentsInput,
  type SyncBillPaymentsOutcome,
  type SyncRequested,
  WORKFLOW_TYPES,
} from "../../src/contract/index.ts";
import { Tries } from "../calls/tries.ts";
import { runJobToCompletion } from "../job/carry-job.ts";
import type { Job } from "../job/job.ts";
import { type AccountingCalls, accountingCallsOf, ledger, main } from "../proxies.ts";
import { everyUpdateIsAnswered } from "../sdk/interceptors.ts";
import { compare, ignoredStatusFilter, roundName, type SyncWork } from "./bill-payments-agree.ts";
import { afterPage, beginning, type Position } from "./bill-payments-position.ts";
import { readPage, syncJob, synchronise } from "./synchronise.ts";

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
  /** How many synchronisations have come to their end, one after the other, each asked for while the one before it ran. */
  done: number;
  /** Absent: the next one is to begin. */
  underWay?: UnderWay;
}

const syncRequested = defineSignal<[SyncRequested?]>(SIGNALS.syncRequested);

/**
 * Brings the ledger up to the bill payments that the accounting service lists. Rows go from the service into the ledger by the activity
 * that reads them and never through the history (docs/decisions/0010).
 */
export async function syncBillPayments(
  input: SyncBillPaymentsInput,
  { done, underWay }: Carried = { done: 0 },
): Promise<SyncBillPaymentsOutcome> {
  const progress = underWay?.progress ?? { kind: "recent", round: 0, pages: 0, rows: 0, added: 0, changed: 0 };
  const job = syncJob<BillPaymentsProgress>(progress, {
    workflow: WORKFLOW_TYPES.syncBillPayments,
    rows: "payments",
    reads: whatIsRead,
  });
  let wanted: Wanted = underWay?.wanted ?? "nothing";
  setHandler(syncRequested, (request) => {
    if (wanted !== "full") wanted = request?.full === true ? "full" : "recent";
  });
  return await runJobToCompletion(async () => {
    const started = underWay ?? (await begin(job, input, done));
    const work = contextOf(job, started);
    return await synchronise(job, started.position, {
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
  const prepared = await prepare(job, input);
  const { workflowId, firstExecutionRunId } = workflowInfo();
  // Not of the run: one that was reset goes on with the synchronisation that its predecessor has begun.
  const syncId = `${workflowId} ${firstExecutionRunId}${done === 0 ? "" : ` ${done + 1}`}`;
  const { connection } = prepared.profile;
  const asked = { connection, syncId, kind: prepared.kind };
  const { kind, knownUntilMs } = await ledger.beginBillPaymentsSync(asked);
  const position = beginning(kind, knownUntilMs);
  job.moveOn("its turn", { kind });
  return { prepared: { ...prepared, kind }, syncId, position, progress: job.progress, wanted: "nothing" };
}

/** Prepared anew after each look that found the filter ignored: the dialect may have another name for it by then, or none. */
async function prepare(
  job: Job<BillPaymentsProgress>,
  input: SyncBillPaymentsInput,
): Promise<PreparedBillPaymentsSync> {
  const tries = new Tries(job);
  for (;;) {
    const prepared = await main.prepareSyncBillPayments({ input });
    const ignored = await ignoredStatusFilter(job, callsOf(job, prepared), prepared);
    if (ignored === undefined) return prepared;
    await tries.refused(ignored);
  }
}

/** What is read from here on has whatever had changed when it was asked for. */
function isAnsweredFrom({ phase, list, page }: Position, wanted: Wanted): boolean {
  return phase === "ground" || (wanted === "recent" && phase === "latest" && list === 0 && page === 1);
}

function contextOf(job: Job<BillPaymentsProgress>, { prepared, syncId }: UnderWay): SyncWork {
  const { profile, kind, statuses } = prepared;
  const sync = { connection: profile.connection, syncId, kind };
  return { job, calls: callsOf(job, prepared), sync, statuses };
}

/** The calls of the connection, and the wait for it where it refuses its key. */
function callsOf(job: Job<BillPaymentsProgress>, { profile }: PreparedBillPaymentsSync): AccountingCalls {
  const calls = accountingCallsOf(profile);
  job.awaitService = (tried) => calls.wait.awaitAccounting({ connection: profile.connection, ...tried });
  return calls;
}

/** Reads the next page into the ledger. */
async function readList(work: SyncWork, before: Position): Promise<Position> {
  const { job, calls, statuses } = work;
  // A run that was reset to before a round begins it anew under another name: what its predecessor listed is not of its passes.
  const isOfNewRound = before.phase === "round" && before.draw === undefined;
  const position = isOfNewRound ? { ...before, draw: uuid4() } : before;
  const request = requestOf(work, position);
  const list = request.status === undefined ? "all payments" : `what is \`${request.status}\``;
  const what = `page ${request.page} of ${list}${request.order === "latest" ? ", by latest change" : ""}`;
  const page = await readPage(job, what, () => calls.read.keepBillPaymentsPage(request));
  const next = afterPage(position, page, 1 + statuses.length);
  job.progress = { ...job.progress, round: next.round };
  return next;
}

function requestOf({ sync, statuses }: SyncWork, position: Position): BillPaymentsPageRequest {
  const { phase, list, page } = position;
  const status = list === 0 ? undefined : statuses[list - 1];
  const { connection } = sync;
  if (phase === "round") return { connection, order: "created", status, page, round: roundName(sync, position) };
  return { connection, order: "latest", status, page };
}

async function complete({ sync }: SyncWork, { settled, topMs, wholeSinceMs, unidentified, ...position }: Position) {
  const whole =
    sync.kind === "full" && wholeSinceMs !== undefined && !unidentified
      ? { name: roundName(sync, position), startedAtMs: wholeSinceMs }
      : undefined;
  return await ledger.completeBillPaymentsSync({ ...sync, settled, knownUntilMs: topMs, round: whole });
}

function whatIsRead({ kind, round }: BillPaymentsProgress): string {
  const again = round > 1 ? `, for the ${round}. time, since payments moved between pages while they were read` : "";
  return kind === "full" ? `every payment${again}` : "what changed last, until known ground";
}
