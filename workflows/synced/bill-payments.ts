import { condition, continueAsNew, defineSignal, workflowInfo } from "@temporalio/workflow";

import {
  type BillPaymentStatus,
  type PreparedBillPaymentsSync,
  type Refusal,
  SIGNALS,
  type Sync,
  type SyncBillPaymentsInput,
  type SyncBillPaymentsOutcome,
  type SyncProgress,
  type SyncRequested,
  WORKFLOW_TYPES,
} from "../../src/contract/index.ts";
import { callWithEscalation } from "../calls/between-tries.ts";
import { type Job, runJobToCompletion } from "../job/job.ts";
import { type AccountingCalls, accountingCallsOf, ledger, main } from "../proxies.ts";
import { everyUpdateIsAnswered, onSignal } from "../sdk/interceptors.ts";
import type { Position } from "./position.ts";
import { beginning, type Mirrored, NOTHING_READ, synchronise, syncJob } from "./synchronise.ts";

/** What was asked for while it ran, and is not answered by what it reads from here on. */
type Wanted = "nothing" | "recent" | "full";

interface UnderWay {
  prepared: PreparedBillPaymentsSync;
  position: Position;
  progress: SyncProgress;
  wanted: Wanted;
}

interface Carried {
  /** Synchronisations that have come to their end, each asked for while the one before it ran. */
  done: number;
  /** Absent: the next one is to begin. */
  underWay?: UnderWay;
}

const syncRequested = defineSignal<[SyncRequested?]>(SIGNALS.syncRequested);

export async function syncBillPayments(
  input: SyncBillPaymentsInput,
  { done, underWay }: Carried = { done: 0 },
): Promise<SyncBillPaymentsOutcome> {
  const job = syncJob(WORKFLOW_TYPES.syncBillPayments, "payments", underWay?.progress ?? NOTHING_READ);
  let wanted: Wanted = underWay?.wanted ?? "nothing";
  onSignal(syncRequested, (request) => {
    if (wanted !== "full") wanted = request?.full === true ? "full" : "recent";
  });
  return await runJobToCompletion(async () => {
    const { prepared, position: start } = underWay ?? (await begin(job, input, done));
    const work = contextOf(job, prepared, done);
    const request = await synchronise(work, start, {
      beforePage(position) {
        if (isAnsweredFrom(work, position, wanted)) wanted = "nothing";
      },
      goOnAnew: (position) =>
        continueAsNew<typeof syncBillPayments>(input, {
          done,
          underWay: { prepared, position, progress: job.progress, wanted },
        }),
    });
    const held = await ledger.completeBillPaymentsSync("Complete the synchronisation in the ledger", request);
    if (wanted !== "nothing") {
      job.moveOn("another synchronisation, which was asked for meanwhile");
      await condition(everyUpdateIsAnswered);
      await continueAsNew<typeof syncBillPayments>({ ...input, full: wanted === "full" }, { done: done + 1 });
    }
    job.moveOn("nothing");
    return { ...job.progress, ...held, settled: request.settled };
  });
}

async function begin(job: Job<SyncProgress>, input: SyncBillPaymentsInput, done: number) {
  // Prepared anew after each look that found the filter ignored: the dialect may have another name for it by then, or
  // none.
  const asked = await callWithEscalation(job, async () => {
    const known = await main.prepareSyncBillPayments("Check the request and find the connection", { input });
    return (await ignoredStatusFilter(job, accountingCallsOf(job, known.profile), known)) ?? known;
  });
  const begun = await ledger.beginSync("Begin the synchronisation in the ledger", contextOf(job, asked, done).sync);
  const prepared = { ...asked, kind: begun.kind };
  return { prepared, position: beginning(contextOf(job, prepared, done), begun) };
}

/** What is read from here on has whatever had changed when it was asked for. */
function isAnsweredFrom({ sync, lists }: Mirrored, position: Position, wanted: Wanted): boolean {
  const { passes, cursor, sweeps, reads } = position;
  const isAtStart = passes.length === lists.whole.length && cursor === undefined;
  return isAtStart && (wanted === "recent" || (sync.kind === "full" && sweeps === 1 && reads === "whole"));
}

function contextOf(
  job: Job<SyncProgress>,
  { profile, kind, statuses }: PreparedBillPaymentsSync,
  done: number,
): Mirrored {
  const { connection } = profile;
  const { workflowId, firstExecutionRunId } = workflowInfo();
  job.moveOn("its turn", { kind });
  const { read } = accountingCallsOf(job, profile);
  // Not of the run: one that was reset goes on with the synchronisation that its predecessor has begun.
  const syncId = `${workflowId} ${firstExecutionRunId}${done === 0 ? "" : ` ${done + 1}`}`;
  const sync: Sync = { collection: "billPayments", connection, syncId, kind };
  const listed = [undefined, ...statuses];
  return {
    job,
    sync,
    lists: {
      whole: listed.map((status) => ({ status })),
      latest: (knownUntilMs) => listed.map((status) => ({ status, knownUntilMs })),
    },
    nameOf: ({ cursor = "1" }, { status }) =>
      `page ${cursor} of ${status === undefined ? "all payments" : `what is ${status}`}`,
    read: (summary, request) => read.keepBillPaymentsPage(summary, { connection, ...request }),
    cursorSetting: "billPayments.page of ACCOUNTING_DIALECT",
    rest: () => Promise.resolve([]),
  };
}

/**
 * Whether the service ignores the filter by status, whose name is not shown. A page does not tell it; but then one
 * payment is listed under two statuses, and under the first again. Looked for before anything is kept: every payment
 * would take every status in turn.
 */
async function ignoredStatusFilter(
  job: Job<SyncProgress>,
  { read }: Pick<AccountingCalls, "read">,
  { profile, statuses }: Pick<PreparedBillPaymentsSync, "profile" | "statuses">,
): Promise<Refusal | undefined> {
  const { connection } = profile;
  const [one, other] = [statuses.at(0), statuses.at(-1)];
  if (one === undefined || other === undefined || one === other) return undefined;
  job.moveOn("a look whether the service tells statuses apart");
  const listedAs = (status: BillPaymentStatus) =>
    callWithEscalation(job, () => read.sampleBillPayments(`Read what is ${status}`, { connection, status }));
  let { ids: inAll } = await listedAs(one);
  for (const status of [other, one]) {
    if (inAll.length === 0) return undefined;
    const { ids } = await listedAs(status);
    inAll = inAll.filter((id) => ids.includes(id));
  }
  const [id] = inAll;
  if (id === undefined) return undefined;
  const message =
    `The bill payment "${id}" was listed as \`${one}\`, then as \`${other}\`, then as \`${one}\` again: the service does not filter by ` +
    "status. Give billPayments.status of ACCOUNTING_DIALECT the service's name for it, or null where there is none.";
  return { kind: "refused", attention: "unexpected-answer", message };
}
