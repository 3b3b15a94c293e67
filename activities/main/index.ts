import type { MainActivities } from "../../src/contract/index.ts";
import type { AccountingRuntime } from "../accounting/index.ts";
import { createLedgerActivities } from "../ledger/index.ts";
import { type CallbackUrlFor, createComposeActivities, createGoodsAtOnce, withGoods } from "./compose.ts";
import { createFindSale } from "./find-sale.ts";
import { createJobPreparations } from "./prepare-jobs.ts";
import { createPrepareActivities } from "./prepare.ts";
import { createReadEvents } from "./read-events.ts";
import { createReplacementActivities } from "./replacement.ts";
import { createWaits, type WaitContext } from "./waits.ts";

export interface MainContext extends WaitContext {
  callbackUrlFor: CallbackUrlFor;
  accounting: ReadonlyMap<string, AccountingRuntime>;
  /** Aborted when the worker ends. */
  ending: AbortSignal;
}

/** The activities of the main task queue: no API call. */
export function createMainActivities(context: MainContext): MainActivities {
  const preparations = createPrepareActivities(context.connections, context.ledger);
  const compositions = createComposeActivities(context, context.callbackUrlFor);
  const goodsAtOnce = createGoodsAtOnce(context, compositions.composeSale);
  return {
    ...preparations,
    prepareSale: withGoods(preparations.prepareSale, goodsAtOnce),
    ...createJobPreparations(context.connections, context.accounting),
    ...compositions,
    ...createWaits(context),
    ...createReplacementActivities(context),
    ...createReadEvents(context.connections, context.ledger, context.ending),
    ...createFindSale(context.connections, context.ledger),
    ...createLedgerActivities(context),
  };
}
