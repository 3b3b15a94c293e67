import { allHandlersFinished, condition, continueAsNew } from "@temporalio/workflow";

import {
  type DocumentToReconcile,
  type PaymentComparison,
  type PreparedReconcile,
  type ReconcileInput,
  type ReconcileOutcome,
  type ReconcileProgress,
  WORKFLOW_TYPES,
} from "../../src/contract/index.ts";
import { carryJob, historyIsLong, wireJobMessages } from "../job/carry-job.ts";
import { Job } from "../job/job.ts";
import { type Calls, callsOf, ledger, ledgerAtLength, main } from "../proxies.ts";
import { answered } from "../run/answered.ts";

/** What a run hands to the next one. */
interface Carried {
  prepared: PreparedReconcile;
  progress: ReconcileProgress;
  after: DocumentToReconcile;
}

interface Reconciling {
  job: Job<ReconcileProgress>;
  prepared: PreparedReconcile;
  calls: Calls["background"];
}

/**
 * Compares what the ledger keeps with what others say: each document that was not yet seen final with the Compliance API, on the background
 * budget, then supplier invoices with bill payments. What does not match is a finding in the ledger, with a reason and a next step.
 */
export async function reconcile(input: ReconcileInput, carried?: Carried): Promise<ReconcileOutcome> {
  const job = new Job<ReconcileProgress>({
    workflow: WORKFLOW_TYPES.reconcile,
    noun: "The reconciliation",
    progress: carried?.progress ?? { documents: 0, final: 0, differing: 0 },
    describe: ({ documents, final, differing }) => [
      `${documents} documents read: ${final} final and the same, ${differing} differing`,
    ],
  });
  wireJobMessages(job);
  return await carryJob(async () => {
    const prepared = carried?.prepared ?? (await main.prepareReconcile({ input }));
    const { connection, businessId } = prepared.profile;
    job.businessId = businessId;
    const calls = callsOf(prepared.profile, () => job.retriedAtMs).background;
    const left = await holdDocuments({ job, prepared, calls }, carried?.after);
    if (left) {
      await condition(allHandlersFinished);
      await continueAsNew<typeof reconcile>(input, { prepared, progress: job.progress, after: left });
    }
    const payments = await holdPayments(job, prepared);
    job.moveOn("the findings");
    const findings = await ledger.reconcileFindings({ connection, businessId });
    job.moveOn("nothing");
    return { ...job.progress, payments, findings };
  });
}

/** Reads page by page, until all is read, or until the history is long enough: then the last document that was read. */
async function holdDocuments(
  { job, prepared, calls }: Reconciling,
  from: DocumentToReconcile | undefined,
): Promise<DocumentToReconcile | undefined> {
  const { connection, businessId } = prepared.profile;
  const target = { connection, businessId };
  for (let after = from; ;) {
    job.moveOn("the next documents");
    const page = await ledger.documentsToReconcile({ ...target, after });
    const last = page.at(-1);
    if (!last) return undefined;
    await Promise.all(
      page.map(async (document) => {
        const { kind } = await answered(job, () => calls.read.reconcileDocument({ ...target, ...document }));
        const { documents, final, differing } = job.progress;
        job.progress = {
          documents: documents + 1,
          final: final + (kind === "final" ? 1 : 0),
          differing: differing + (kind === "differs" ? 1 : 0),
        };
      }),
    );
    if (historyIsLong()) return last;
    after = last;
  }
}

async function holdPayments(job: Job<ReconcileProgress>, prepared: PreparedReconcile): Promise<PaymentComparison> {
  const { profile, accounting, rule } = prepared;
  if (typeof accounting !== "string") return accounting;
  const { connection, businessId } = profile;
  job.moveOn("the comparison of supplier invoices with bill payments");
  return await ledgerAtLength.reconcilePayments({ connection, businessId, accounting, rule });
}
