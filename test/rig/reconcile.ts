import { inject } from "vitest";

import {
  MAIN_TASK_QUEUE,
  type ReconcileInput,
  type ReconcileOutcome,
  reconcileWorkflowId,
} from "../../src/contract/index.ts";
import { type OutsideClient, openOutsideClient } from "../../src/ledger/test-support/outside-client.ts";
import { asOwner, freshDatabase } from "./fresh-database.ts";
import { type Rig, startRig } from "./start-rig.ts";
import { BUSINESS } from "./views-of.ts";

/**
 * Reconciles the suite's business, as an operator does in Temporal's UI.
 * @param rig asked when it is needed: a suite's helpers are there before its rig
 */
export function reconcileOf(rig: () => Rig) {
  return async (): Promise<ReconcileOutcome> =>
    await rig().client.workflow.execute<(input: ReconcileInput) => Promise<ReconcileOutcome>>("reconcile", {
      workflowId: reconcileWorkflowId(BUSINESS),
      taskQueue: MAIN_TASK_QUEUE,
      args: [BUSINESS],
    });
}

export interface ReconcilingRig {
  rig: Rig;
  /** What a suite changes behind the back of the workers. */
  outside: OutsideClient;
  close(): Promise<void>;
}

/** A rig that has a rule for payments and an accounting connection, which nobody serves. */
export async function startReconcilingRig(): Promise<ReconcilingRig> {
  const databaseUrl = await freshDatabase(inject("ledgerServerUrl"));
  const accounting = { ACCOUNTING_BASE_URL: "http://127.0.0.1:9", ACCOUNTING_API_KEY: "sk_development_nobody" };
  const rule = { COMPLIANCE_RECONCILE_INVOICE_NUMBER_IN: "billPaymentCode" };
  const rig = await startRig({ env: { LEDGER_URL: databaseUrl, ...accounting, ...rule } });
  const outside = openOutsideClient(asOwner(databaseUrl));
  const close = async (): Promise<void> => {
    await outside.end();
    await rig.close();
  };
  return { rig, outside, close };
}
