/**
 * The job `reconcile`: which documents are read from the API again, and in which order. What is compared, and what is a
 * finding, is in `src/ledger/books/`, asked for by activities.
 *
 * Stands on: `src/contract`, `workflows`, `workflows/calls`, `workflows/job`, `workflows/sdk`.
 */
import { condition, continueAsNew } from "@temporalio/workflow";

import {
  type CallTarget,
  type DocumentToReconcile,
  type PaymentComparison,
  type PreparedReconcile,
  type ReconcileInput,
  type ReconcileOutcome,
  type ReconcileProgress,
  reconcileProgressText,
  WORKFLOW_TYPES,
} from "../../src/contract/index.ts";
import { callWithEscalation } from "../calls/between-tries.ts";
import { Job, registerJobMessages, runJobToCompletion, sideBySide } from "../job/job.ts";
import { type Calls, callsOf, ledger, ledgerAtLength, main } from "../proxies.ts";
import { everyUpdateIsAnswered } from "../sdk/interceptors.ts";

interface Carried {
  prepared: PreparedReconcile;
  progress: ReconcileProgress;
  after: DocumentToReconcile;
  /** Of the documents up to there, those that were not answered. */
  unanswered: DocumentToReconcile[];
  /** An operator's `retry` may be what they are called for next. */
  retriedAtMs?: number | undefined;
}

interface Reconciling {
  job: Job<ReconcileProgress>;
  target: CallTarget;
  calls: Calls["background"];
}

/**
 * Compares what the ledger keeps with what others say: each document that was not yet seen final with the Compliance
 * API, then supplier invoices with bill payments. What does not match is a finding in the ledger.
 */
export async function reconcile(input: ReconcileInput, carried?: Carried): Promise<ReconcileOutcome> {
  const job = new Job<ReconcileProgress>({
    workflow: WORKFLOW_TYPES.reconcile,
    noun: "The reconciliation",
    progress: carried?.progress ?? { documents: 0, final: 0, differing: 0, unreadable: 0 },
    describe: (progress) => [reconcileProgressText(progress)],
  });
  job.retriedAtMs = carried?.retriedAtMs;
  registerJobMessages(job);
  return await runJobToCompletion(async () => {
    const prepared =
      carried?.prepared ?? (await main.prepareReconcile("Check the request and find the connection", { input }));
    const { connection, businessId } = prepared.profile;
    const target = { connection, businessId };
    job.businessId = businessId;
    const { background: calls } = callsOf(job, prepared.profile);
    const remaining = await holdDocuments({ job, target, calls }, carried);
    if (remaining) {
      await condition(everyUpdateIsAnswered);
      const { progress, retriedAtMs } = job;
      await continueAsNew<typeof reconcile>(input, { prepared, progress, retriedAtMs, ...remaining });
    }
    const payments = await holdPayments(job, target, prepared);
    job.moveOn("the findings");
    const { settled, ...findings } = await ledger.reconcileFindings("Read the findings", target);
    const { final } = job.progress;
    // One that was found final and has changed since is not settled any more.
    job.moveOn("nothing", settled === undefined ? {} : { skipped: Math.max(0, settled - final) });
    return { ...job.progress, payments, findings };
  });
}

type Remaining = Pick<Carried, "after" | "unanswered">;

/** @returns what is left, if the history is long enough */
async function holdDocuments(work: Reconciling, from: Remaining | undefined): Promise<Remaining | undefined> {
  const { job, target } = work;
  // Nothing else of what is carried: the progress goes on from here.
  let remaining = from && { after: from.after, unanswered: await holdPage(work, from.unanswered) };
  for (;;) {
    if (remaining && (remaining.unanswered.length > 0 || job.dueBetweenPages)) return remaining;
    job.moveOn("the next documents");
    const request = { ...target, after: remaining?.after };
    const page = await ledger.documentsToReconcile("Find the next documents to compare", request);
    const after = page.at(-1);
    if (!after) return undefined;
    remaining = { after, unanswered: await holdPage(work, page) };
  }
}

const COUNTED = { final: "final", differs: "differing", unreadable: "unreadable" } as const;

/** @returns those that are left to the next run */
async function holdPage(
  { job, target, calls }: Reconciling,
  page: readonly DocumentToReconcile[],
): Promise<DocumentToReconcile[]> {
  return await sideBySide(job, page, async (document) => {
    const result = await callWithEscalation(job, () =>
      calls.read.reconcileDocument(`Compare ${document.number} with the service`, { ...target, ...document }),
    );
    const progress = { ...job.progress, documents: job.progress.documents + 1 };
    if (result.kind !== "not-final") progress[COUNTED[result.kind]]++;
    else if (result.givenUp) progress.givenUp = (progress.givenUp ?? 0) + 1;
    job.progress = progress;
  });
}

async function holdPayments(
  job: Job<ReconcileProgress>,
  target: CallTarget,
  { accounting, rule }: PreparedReconcile,
): Promise<PaymentComparison> {
  if (typeof accounting !== "string") return accounting;
  job.moveOn("the comparison of supplier invoices with bill payments");
  const asked = { ...target, accounting, rule };
  return await ledgerAtLength.reconcilePayments("Compare supplier invoices with bill payments", asked);
}
