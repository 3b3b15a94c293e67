import { condition, continueAsNew, workflowInfo } from "@temporalio/workflow";

import {
  type PreparedPurchasesSync,
  type PurchasesProgress,
  type SyncPurchasesInput,
  type SyncPurchasesOutcome,
  WORKFLOW_TYPES,
} from "../../src/contract/index.ts";
import { runJobToCompletion, registerJobMessages } from "../job/carry-job.ts";
import { Job } from "../job/job.ts";
import { leftOutLines } from "../job/page-progress.ts";
import { callsOf, ledger, main } from "../proxies.ts";
import { everyUpdateIsAnswered } from "../sdk/interceptors.ts";
import { afterPasses, atWindows, BEGINNING, type Position } from "./position.ts";
import { pull, readPage, type SyncWork } from "./read.ts";

/** What a run hands to the next one. */
interface Carried {
  prepared: PreparedPurchasesSync;
  position: Position;
  progress: PurchasesProgress;
}

/**
 * Brings the ledger up to the supplier invoices that the Compliance API lists: pull from the authority → the list, newest first, until
 * known ground → what may still change → complete. Rows go from the API into the ledger by the activity that reads them and never through
 * the history (docs/decisions/0011).
 */
export async function syncPurchases(input: SyncPurchasesInput, carried?: Carried): Promise<SyncPurchasesOutcome> {
  const progress = carried?.progress ?? { kind: "recent", pages: 0, rows: 0, added: 0, changed: 0 };
  const job = new Job({
    workflow: WORKFLOW_TYPES.syncPurchases,
    noun: "The synchronisation",
    progress,
    describe: describeProgress,
  });
  registerJobMessages(job);
  return await runJobToCompletion(async () => {
    const prepared = carried?.prepared ?? (await main.prepareSyncPurchases({ input }));
    const work = contextOf(job, prepared);
    if (!carried) await ledger.beginPurchasesSync(work.sync);
    const position = await readAll(work, carried?.position ?? BEGINNING);
    if (position.step !== "complete") {
      await condition(everyUpdateIsAnswered);
      await continueAsNew<typeof syncPurchases>(input, { prepared, position, progress: job.progress });
    }
    job.moveOn("the count of what the ledger holds");
    const held = await ledger.completePurchasesSync({ ...work.sync, unidentified: position.unidentified });
    job.moveOn("nothing");
    return { ...job.progress, ...held };
  });
}

function contextOf(job: Job<PurchasesProgress>, { profile, kind, from }: PreparedPurchasesSync): SyncWork {
  const { connection, businessId } = profile;
  const { workflowId, firstExecutionRunId } = workflowInfo();
  job.businessId = businessId;
  job.moveOn("its turn", { kind });
  const { background: calls, wait } = callsOf(profile, () => job.retriedAtMs);
  job.awaitService = (tried) => wait.awaitService({ connection, businessId, ...tried });
  return {
    job,
    calls,
    target: { connection, businessId },
    sync: { connection, businessId, syncId: `${workflowId} ${firstExecutionRunId}`, kind },
    from,
  };
}

/** Reads on until all is read, or until the history is long enough. */
async function readAll(work: SyncWork, start: Position): Promise<Position> {
  let position = start;
  for (;;) {
    if (position.step === "pull") position = await pull(work, position);
    else if (position.step === "changed" && !position.windows)
      position = atWindows(position, await ledger.windowsOfChangedPurchases(work.sync));
    else if (position.step !== "complete") position = await readPage(work, position, position.step);
    if (position.step === "complete") {
      if (work.sync.kind !== "full") return position;
      const unseen = await ledger.unseenPurchases(work.sync);
      position = afterPasses(position, unseen);
      if (position.step === "complete") return position;
    }
    if (work.job.historyIsLong) return position;
  }
}

const KINDS = {
  recent: "the latest, until known ground, and what may still change",
  full: "the whole list",
  window: "all from a day on",
} as const;

function describeProgress({ kind, pages, rows, added, changed, leftOut }: PurchasesProgress): string[] {
  return [
    `Reads ${KINDS[kind]}`,
    `${pages} pages with ${rows} purchases read; ${added} were new, ${changed} had changed`,
    ...leftOutLines({ leftOut }),
    "Purchases are confirmed and rejected in the service's dashboard, not here",
  ];
}
