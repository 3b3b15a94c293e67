import { condition, continueAsNew, defineSignal, setHandler, workflowInfo } from "@temporalio/workflow";

import {
  type BillPaymentsProgress,
  type PreparedBillPaymentsSync,
  SIGNALS,
  type SyncBillPaymentsInput,
  type SyncBillPaymentsOutcome,
  type SyncRequested,
  WORKFLOW_TYPES,
} from "../../src/contract/index.ts";
import { Tries } from "../calls/tries.ts";
import { runJobToCompletion, registerJobMessages } from "../job/carry-job.ts";
import { Job } from "../job/job.ts";
import { leftOutLines } from "../job/page-progress.ts";
import { type AccountingCalls, accountingCallsOf, ledger, main } from "../proxies.ts";
import { everyUpdateIsAnswered } from "../sdk/interceptors.ts";
import { beginning, type Position } from "./position.ts";
import { compare, readPage, roundName, type SyncWork } from "./read.ts";
import { ignoredStatusFilter } from "./status-filter.ts";

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
  const { syncBillPayments: workflow } = WORKFLOW_TYPES;
  const job = new Job({ workflow, noun: "The synchronisation", progress, describe: describeProgress });
  let wanted: Wanted = underWay?.wanted ?? "nothing";
  registerJobMessages(job);
  setHandler(syncRequested, (request) => {
    if (wanted !== "full") wanted = request?.full === true ? "full" : "recent";
  });
  return await runJobToCompletion(async () => {
    const started = underWay ?? (await begin(job, input, done));
    const work = contextOf(job, started);
    let { position } = started;
    while (position.phase !== "complete") {
      if (isAnsweredFrom(position, wanted)) wanted = "nothing";
      position = position.phase === "compare" ? await compare(work, position) : await readPage(work, position);
      if (position.phase !== "complete" && job.historyIsLong) {
        await condition(everyUpdateIsAnswered);
        const sofar = { ...started, position, progress: job.progress, wanted };
        await continueAsNew<typeof syncBillPayments>(input, { done, underWay: sofar });
      }
    }
    const held = await complete(work, position);
    if (wanted !== "nothing") {
      job.moveOn("another synchronisation, which was asked for meanwhile");
      await condition(everyUpdateIsAnswered);
      await continueAsNew<typeof syncBillPayments>({ ...input, full: wanted === "full" }, { done: done + 1 });
    }
    job.moveOn("nothing");
    return { ...job.progress, ...held, settled: position.settled };
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

async function complete({ job, sync }: SyncWork, position: Position) {
  const { settled, topMs, wholeSinceMs, unidentified } = position;
  job.moveOn("the count of what the ledger holds");
  const whole =
    sync.kind === "full" && wholeSinceMs !== undefined && !unidentified
      ? { name: roundName(sync, position), startedAtMs: wholeSinceMs }
      : undefined;
  return await ledger.completeBillPaymentsSync({ ...sync, settled, knownUntilMs: topMs, round: whole });
}

function describeProgress({ kind, round, pages, rows, added, changed, leftOut }: BillPaymentsProgress): string[] {
  const again = round > 1 ? `, for the ${round}. time, since payments moved between pages while they were read` : "";
  return [
    kind === "full" ? `Reads every payment${again}` : "Reads what changed last, until known ground",
    `${pages} pages with ${rows} payments read; ${added} were new, ${changed} had changed`,
    ...leftOutLines({ leftOut }),
  ];
}
