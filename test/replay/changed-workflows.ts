import { sleep } from "@temporalio/workflow";

import * as real from "../../workflows/index.ts";

type Workflow = (...input: never[]) => Promise<unknown>;

/** As somebody would change it who forgot the open ones: a timer before everything else. */
function changed(workflow: Workflow): Workflow {
  return async (...input) => {
    await sleep(1_000);
    return await workflow(...input);
  };
}

export const firstOutcome = changed(real.firstOutcome);
export const findSale = changed(real.findSale);
export const processSyncBatch = changed(real.processSyncBatch);
export const readEvents = changed(real.readEvents);
export const reconcile = changed(real.reconcile);
export const registerItems = changed(real.registerItems);
export const sale = changed(real.sale);
export const scheduled = changed(real.scheduled);
export const syncBillPayments = changed(real.syncBillPayments);
export const syncPurchases = changed(real.syncPurchases);
