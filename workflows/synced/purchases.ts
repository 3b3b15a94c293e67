import { continueAsNew, workflowInfo } from "@temporalio/workflow";

import {
  type Pass,
  type PreparedPurchasesSync,
  type Sync,
  type SyncProgress,
  type SyncPurchasesInput,
  type SyncPurchasesOutcome,
  WORKFLOW_TYPES,
} from "../../src/contract/index.ts";
import { callWithEscalation } from "../calls/between-tries.ts";
import { type Job, runJobToCompletion } from "../job/job.ts";
import { callsOf, ledger, main } from "../proxies.ts";
import type { Position } from "./position.ts";
import { beginning, type Mirrored, NOTHING_READ, synchronise, syncJob } from "./synchronise.ts";

interface Carried {
  prepared: PreparedPurchasesSync;
  position: Position;
  progress: SyncProgress;
}

/**
 * Brings the ledger up to the supplier invoices that the Compliance API lists: pull from the authority → the list,
 * newest first, until known ground → what may still change → the days of what has changed.
 */
export async function syncPurchases(input: SyncPurchasesInput, carried?: Carried): Promise<SyncPurchasesOutcome> {
  const job = syncJob(WORKFLOW_TYPES.syncPurchases, "purchases", carried?.progress ?? NOTHING_READ);
  return await runJobToCompletion(async () => {
    const { prepared, position: start } =
      carried ??
      (await begin(job, await main.prepareSyncPurchases("Check the request and find the connection", { input })));
    const work = contextOf(job, prepared);
    const done = await synchronise(work, start, {
      goOnAnew: (position) =>
        continueAsNew<typeof syncPurchases>(input, { prepared, position, progress: job.progress }),
    });
    const held = await ledger.completePurchasesSync("Complete the synchronisation in the ledger", done);
    job.moveOn("nothing");
    return { ...job.progress, ...held };
  });
}

async function begin(job: Job<SyncProgress>, asked: PreparedPurchasesSync) {
  const { sync: wanted, target, calls } = contextOf(job, asked);
  const begun = await ledger.beginSync("Begin the synchronisation in the ledger", wanted);
  const prepared = { ...asked, kind: begun.kind };
  job.moveOn("the service, which fetches the latest from the tax authority");
  // What comes of it is seen in the list.
  await callWithEscalation(job, () =>
    calls.read.pullPurchases("Have the service fetch the latest from the tax authority", target),
  );
  return { prepared, position: beginning(contextOf(job, prepared), begun) };
}

function contextOf(job: Job<SyncProgress>, { profile, kind, from, statuses }: PreparedPurchasesSync) {
  const { connection, businessId } = profile;
  const { workflowId, firstExecutionRunId } = workflowInfo();
  job.businessId = businessId;
  job.moveOn("its turn", { kind });
  const { background: calls } = callsOf(job, profile);
  const target = { connection, businessId };
  // Not of the run: one that was reset goes on with the synchronisation that its predecessor has begun.
  const syncId = `${workflowId} ${firstExecutionRunId}`;
  const sync: Sync = { ...target, collection: "purchases", syncId, kind };
  return {
    job,
    calls,
    target,
    sync,
    lists: {
      whole: [{ from }],
      // An open invoice may be confirmed or rejected at any time, however old it is.
      latest: (knownUntilMs) => [{ knownUntilMs }, ...statuses.map((status) => ({ status }))],
    },
    nameOf: ({ sweeps }, pass) => `${partOf(pass)}${sweeps > 1 ? `, read for the ${sweeps}. time` : ""}`,
    read: (summary, request) => calls.read.keepPurchasesPage(summary, { ...target, ...request }),
    cursorSetting: "purchases.cursor of COMPLIANCE_DIALECT",
    // Only the list says what became of an invoice that is not among what is open any more.
    rest: async ({ startedAtMs: sinceMs }) =>
      kind === "recent"
        ? await ledger.daysOfChangedPurchases("Find the days that have changed", { ...sync, sinceMs })
        : [],
  } satisfies Mirrored & { calls: unknown; target: unknown };
}

function partOf({ status, to }: Pass): string {
  if (status !== undefined) return `a page of what is ${status}`;
  return to === undefined ? "a page of the list" : "a page of a day on which an invoice has changed";
}
