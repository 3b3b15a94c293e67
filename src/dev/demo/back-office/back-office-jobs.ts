import type { Client } from "@temporalio/client";

import { DEFAULT_CONNECTION } from "../../../contract/index.ts";
import { batchJob } from "../../../cli/accounting/batch-job.ts";
import { billPaymentsSync } from "../../../cli/accounting/bill-payments-sync.ts";
import { itemsRegistration } from "../../../cli/items/items-registration.ts";
import { followJob } from "../../../cli/jobs/follow-job.ts";
import type { JobCommand, JobScope } from "../../../cli/jobs/job-command.ts";
import { startJob } from "../../../cli/jobs/run-job.ts";
import { purchasesSync } from "../../../cli/purchases/purchases-sync.ts";
import { reconciliation } from "../../../cli/reconcile/reconciliation.ts";
import type { DemoPlan } from "../demo-plan.ts";

/** Each takes a second or two; what is not done by then hangs. */
const DEADLINE_MS = 60_000;
const LOOK_EVERY_MS = 200;

export interface JobEnd {
  /** What came of it, in lines for people. */
  readonly lines: readonly string[];
  /** Why it did not end as it should have. */
  readonly problem?: string;
}

/** One of the jobs that have no sale of their own, exactly as its command starts it. */
export interface BackOfficeJob {
  /** The workflow's type. */
  readonly workflow: string;
  readonly workflowId: string;
  /** Starts it and follows it to its end. @throws the workflow's failure, the signal's reason */
  run(client: Client, following: { signal: AbortSignal; onProgress: (line: string) => void }): Promise<JobEnd>;
}

/** In the order of a shop's evening: what is reconciled at the end was brought into the ledger before. */
export function backOfficeJobs({ businessId, scenario }: DemoPlan): BackOfficeJob[] {
  const ofBusiness = { connection: DEFAULT_CONNECTION, businessId };
  const ofAccounting = { connection: DEFAULT_CONNECTION };
  const batches = scenario.accounting.syncBatches.slice(0, 1);
  return [
    job(itemsRegistration, ofBusiness),
    job(purchasesSync, ofBusiness),
    job(billPaymentsSync, ofAccounting),
    ...batches.map(({ id }) => job(batchJob(id), ofAccounting)),
    job(reconciliation, ofBusiness),
  ];
}

function job<Progress, Result>(command: JobCommand<Progress, Result>, scope: JobScope): BackOfficeJob {
  const { workflow, input, progressLine, resultText } = command;
  const workflowId = command.workflowId(scope);
  return {
    workflow,
    workflowId,
    async run(client, { signal, onProgress }) {
      if (!(await startJob(client, workflow, workflowId, { ...scope, ...input })))
        return { lines: [], problem: "runs already, and nothing was started" };
      const followed = await followJob<Progress, Result>(client, workflowId, {
        waitMs: DEADLINE_MS,
        lookEveryMs: LOOK_EVERY_MS,
        signal,
        onProgress: ({ progress, waitingFor }) => onProgress(`${progressLine(progress)}; waits for ${waitingFor}`),
      });
      if (followed.end === "done") return { lines: resultText(followed.result).split("\n") };
      const waitsFor = followed.state?.waitingFor ?? "a worker that answers";
      const [attention] = followed.state?.attentions ?? [];
      if (attention) return { lines: [], problem: `needs an operator: ${attention.code}: ${attention.message}` };
      return { lines: [], problem: `has not ended in time; it waits for ${waitsFor}` };
    },
  };
}
