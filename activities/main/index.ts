import { log } from "@temporalio/activity";
import type { WorkflowClient } from "@temporalio/client";

import type { MainActivities } from "../../src/contract/index.ts";
import type { AccountingRuntime } from "../accounting/index.ts";
import type { ActivityContext } from "../compliance/calls.ts";
import { createLedgerActivities } from "../ledger/index.ts";
import { createCheckInput } from "./check-input.ts";
import { type CallbackUrlFor, createComposeActivities, createGoodsAtOnce, createItemsInCatalogue } from "./compose.ts";
import { createFindSale } from "./find-sale.ts";
import { createAccountingPreparations } from "./prepare-accounting.ts";
import { createPrepareCorrection } from "./prepare-correction.ts";
import { createJobPreparations } from "./prepare-jobs.ts";
import { createEarlierSale, createPrepareActivities } from "./prepare.ts";
import { createReadEvents } from "./read-events.ts";
import { createSeeSale, createSeeSaleActivity } from "./see-sale.ts";
import {
  createBranchWaitActivities,
  createCreditNoteRunActivities,
  createFirstOutcomeActivities,
  type LookAtOutcome,
} from "./waits.ts";

export interface MainContext extends ActivityContext {
  callbackUrlFor: CallbackUrlFor;
  workflows: WorkflowClient;
  lookAtOutcome: LookAtOutcome;
  accounting: ReadonlyMap<string, AccountingRuntime>;
}

/** The activities of the main task queue: no API call. */
export function createMainActivities(context: MainContext): MainActivities {
  const see = createSeeSale(context.workflows, context.ledger);
  const preparations = createPrepareActivities(
    context.connections,
    createEarlierSale(context.ledger),
    createCheckInput(context.ledger, (message) => log.warn(message)),
  );
  const compositions = createComposeActivities(context, context.callbackUrlFor);
  const goodsAtOnce = createGoodsAtOnce(createItemsInCatalogue(context), compositions.composeSale);
  return {
    async prepareSale(request) {
      const prepared = await preparations.prepareSale(request);
      return { ...prepared, ...(await goodsAtOnce(prepared, request.input?.lines)) };
    },
    prepareCreditNote: preparations.prepareCreditNote,
    ...createJobPreparations(context.connections, context.accounting),
    ...createAccountingPreparations(context.accounting),
    ...compositions,
    ...createCreditNoteRunActivities(context.workflows, context.random),
    ...createFirstOutcomeActivities(context.lookAtOutcome, context.random),
    ...createPrepareCorrection({ ...context, see }),
    ...createSeeSaleActivity(see, context),
    ...createReadEvents(context.connections, context.ledger),
    ...createFindSale(context.connections, context.ledger),
    ...createBranchWaitActivities(context),
    ...createLedgerActivities(context),
  };
}
