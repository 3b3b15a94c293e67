import { continueAsNew, workflowInfo } from "@temporalio/workflow";

import {
  type PreparedPurchasesSync,
  type PurchasesPage,
  type PurchasesPass,
  type PurchasesProgress,
  type PurchasesSync,
  type Refusal,
  type SyncPurchasesInput,
  type SyncPurchasesOutcome,
  WORKFLOW_TYPES,
} from "../../src/contract/index.ts";
import { callWithEscalation, isRefusal } from "../calls/between-tries.ts";
import { type Job, runJobToCompletion } from "../job/job.ts";
import { callsOf, ledger, main } from "../proxies.ts";
import {
  afterPage,
  afterPasses,
  afterPull,
  atWindows,
  BEGINNING,
  type Position,
  restarted,
} from "./purchases-position.ts";
import { whyEndless, withPage } from "./endless-list.ts";
import { countPage, countsOf, syncJob, synchronise } from "./synchronise.ts";

/** What a run hands to the next one. */
interface Carried {
  prepared: PreparedPurchasesSync;
  position: Position;
  progress: PurchasesProgress;
}

/**
 * Brings the ledger up to the supplier invoices that the Compliance API lists: pull from the authority → the list,
 * newest first, until known ground → what may still change → complete. Rows go from the API into the ledger by the
 * activity that reads them and never through the history (docs/decisions/0011).
 */
export async function syncPurchases(input: SyncPurchasesInput, carried?: Carried): Promise<SyncPurchasesOutcome> {
  const progress = carried?.progress ?? { kind: "recent", pages: 0, rows: 0, added: 0, changed: 0 };
  const job = syncJob(WORKFLOW_TYPES.syncPurchases, progress, describeProgress);
  return await runJobToCompletion(async () => {
    const prepared =
      carried?.prepared ?? (await main.prepareSyncPurchases("Check the request and find the connection", { input }));
    const work = contextOf(job, prepared);
    if (!carried) await ledger.beginPurchasesSync("Begin the synchronisation in the ledger", work.sync);
    return await synchronise(job, {
      start: carried?.position ?? BEGINNING,
      isThrough: ({ step }) => step === "complete",
      step: (position) => takeStep(work, position),
      goOnAnew: (position) =>
        continueAsNew<typeof syncPurchases>(input, { prepared, position, progress: job.progress }),
      complete: ({ unidentified }) =>
        ledger.completePurchasesSync("Complete the synchronisation in the ledger", { ...work.sync, unidentified }),
    });
  });
}

type SyncWork = ReturnType<typeof contextOf>;

function contextOf(job: Job<PurchasesProgress>, { profile, kind, from }: PreparedPurchasesSync) {
  const { connection, businessId } = profile;
  const { workflowId, firstExecutionRunId } = workflowInfo();
  job.businessId = businessId;
  job.moveOn("its turn", { kind });
  const { background: calls } = callsOf(job, profile);
  const target = { connection, businessId };
  const sync: PurchasesSync = { ...target, syncId: `${workflowId} ${firstExecutionRunId}`, kind };
  return { job, calls, target, sync, from };
}

async function takeStep(work: SyncWork, before: Position): Promise<Position> {
  const { sync } = work;
  const position = await nextPosition(work, before);
  if (position.step !== "complete" || sync.kind !== "full") return position;
  return afterPasses(position, await ledger.unseenPurchases("Find what the list no longer has", sync));
}

async function nextPosition(work: SyncWork, position: Position): Promise<Position> {
  const { job, calls, target } = work;
  const { step, windows } = position;
  if (step === "complete") return position;
  if (step === "pull") {
    // What comes of it is seen in the list.
    const what = "fetch the latest from the tax authority";
    job.moveOn("the service, which fetches the latest from the tax authority");
    await callWithEscalation(job, () => calls.read.pullPurchases(`Have the service ${what}`, target));
    return afterPull(position);
  }
  if (step === "changed" && !windows)
    return atWindows(position, await ledger.windowsOfChangedPurchases("Find the days that have changed", work.sync));
  return await readPass(work, position, step);
}

const PASSES: Readonly<Record<PurchasesPass, string>> = {
  list: "a page of the list",
  pulled: "a page of what is pulled",
  pending_review: "a page of what is pending_review",
  changed: "a page of a day on which an invoice has changed",
};

/** Begins a pass anew so often without an operator, where the service does not take its own cursor back. */
const MOST_RESTARTS = 3;

/** Reads one page into the ledger. */
async function readPass(work: SyncWork, position: Position, pass: PurchasesPass): Promise<Position> {
  const { job, calls, target, sync, from } = work;
  const { cursor, sweeps, restarts, windows } = position;
  const request = { ...target, syncId: sync.syncId, pass, cursor, ...(windows?.[0] ?? { from }) };
  const again = sweeps > 1 ? `, read for the ${sweeps}. time` : "";
  const what = `${PASSES[pass]}${again}`;
  job.moveOn(what);
  let pagesRead = position.pagesRead;
  const page = await callWithEscalation(job, async () => {
    const result = await calls.read.keepPurchasesPage(`Read ${what}`, request);
    if (!isRefusal(result)) {
      if (isSamePage(position, result)) return CURSOR_IGNORED;
      pagesRead = withPage(pagesRead, `${pass} ${sweeps} ${restarts} ${windows?.[0]?.from}`, result);
      const endless = result.nextCursor === null ? undefined : whyEndless(pagesRead);
      if (endless === undefined) return result;
      // A retry reads on, for as many pages as before.
      pagesRead = undefined;
      return isEndless(`${endless}: ${what} was the last that was read.`);
    }
    const cursorRefused = result.attention === "invalid-request" && cursor !== undefined;
    return cursorRefused && restarts < MOST_RESTARTS ? { kind: "cursor-refused" as const } : result;
  });
  if (page.kind === "cursor-refused") return restarted(position);
  countPage(job, page);
  return { ...afterPage(position, sync.kind, page), pagesRead };
}

function isEndless(what: string): Refusal {
  const message = `${what} Look at purchases.cursor of COMPLIANCE_DIALECT; a retry reads on.`;
  return { kind: "refused", attention: "unexpected-answer", message };
}

const CURSOR_IGNORED: Refusal = {
  kind: "refused",
  attention: "unexpected-answer",
  message:
    "The service answers a cursor with the page before it: it may not know the cursor's name. Set purchases.cursor of " +
    "COMPLIANCE_DIALECT to the service's name for it, then retry.",
};

/** The same rows once more, or the cursor that was sent: read on, they would come for ever. */
function isSamePage({ cursor, fingerprint }: Position, page: PurchasesPage): boolean {
  if (cursor === undefined) return false;
  return page.nextCursor === cursor || (fingerprint !== undefined && page.fingerprint === fingerprint);
}

const KINDS = {
  recent: "the latest, until known ground, and what may still change",
  full: "the whole list",
  window: "all from a day on",
} as const;

function describeProgress(progress: PurchasesProgress): string[] {
  return [
    `Reads ${KINDS[progress.kind]}`,
    ...countsOf(progress, "purchases"),
    "Purchases are confirmed and rejected in the service's dashboard, not here",
  ];
}
