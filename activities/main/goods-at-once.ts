import { Context } from "@temporalio/activity";

import {
  isRegistered,
  type ItemsRequest,
  type ItemsResult,
  type MainActivities,
  type PreparedSaleAnswer,
  resolvedLines,
  type SaleLineInput,
} from "../../src/contract/index.ts";
import { resolveLines } from "../compliance/resolve-lines.ts";
import type { ActivityContext } from "../compliance/runtime.ts";

type Resolved = Extract<ItemsResult, { kind: "resolved" }>;

type ItemsInCatalogue = ReturnType<typeof createItemsInCatalogue>;

/** What the process's own catalogue knows: the items of all lines, or nothing. It costs no call. */
export function createItemsInCatalogue(context: Pick<ActivityContext, "connections" | "nowMs">) {
  return ({ connection, businessId, lines, notOlderThanMs }: ItemsRequest): Resolved | undefined => {
    const runtime = context.connections.get(connection);
    const sinceMs = notOlderThanMs ?? context.nowMs() - (runtime?.catalogueAgeMs ?? 0);
    const items = runtime?.catalogue.known(businessId, sinceMs);
    const result = items && resolveLines(lines, items, runtime?.catalogue.leftOut(businessId));
    return result?.kind === "resolved" ? result : undefined;
  };
}

/** A larger sale has its request composed by an activity of its own: both in one payload would be too much. */
const MOST_LINES = 200;

/**
 * What of a sale's goods is known without a call: the items of its lines, and the create request too where they are all registered and no
 * branch has to be looked up.
 */
export function createGoodsAtOnce(inCatalogue: ItemsInCatalogue, composeSale: MainActivities["composeSale"]) {
  return async (
    { profile, sale, finished }: PreparedSaleAnswer,
    lines: SaleLineInput[] | undefined,
  ): Promise<Pick<PreparedSaleAnswer, "items" | "composed">> => {
    const { branch, saleId, callback = "auto" } = sale;
    if (!lines || finished) return {};
    const { connection, businessId } = profile;
    const items = inCatalogue({ connection, businessId, lines })?.items;
    if (!items) return {};
    if (!items.every(isRegistered) || branch !== undefined || saleId !== undefined || lines.length > MOST_LINES)
      return { items };
    const workflowId = Context.current().info.workflowExecution?.workflowId;
    if (workflowId === undefined) return { items };
    const { traderInvoiceNumber, saleDate, paymentTypeCode, customer } = sale;
    const content = { traderInvoiceNumber, saleDate, paymentTypeCode, customer, lines: resolvedLines(lines, items) };
    const composed = await composeSale({ connection, businessId, ...content, callback, workflowId });
    // A refusal is the workflow's to show, at the step to which it belongs.
    return composed.kind === "composed" ? { items, composed } : { items };
  };
}
