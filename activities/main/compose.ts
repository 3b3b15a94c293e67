import { Context } from "@temporalio/activity";

import { ComplianceInputError, composeCreateSale, composeCreditNote } from "../../src/compliance/index.ts";
import {
  type Composed,
  type ComposedRequest,
  isRegistered,
  type MainActivities,
  type PreparedSale,
  type RefundReason,
  resolvedLines,
  type SaleLineInput,
} from "../../src/contract/index.ts";
import { notServedMessage } from "../classified-call.ts";
import { type ActivityContext } from "../compliance/calls.ts";

/** A larger sale has its request composed by an activity of its own: both in one payload would be too much. */
const MOST_LINES = 200;

/**
 * What of a sale's goods is known without a call: the items of its lines, and the create request too where they are all
 * registered and no branch has to be looked up.
 */
export function createGoodsAtOnce(
  { connections, nowMs }: Pick<ActivityContext, "connections" | "nowMs">,
  composeSale: MainActivities["composeSale"],
) {
  return async (
    { profile, sale, finished }: PreparedSale,
    lines: SaleLineInput[] | undefined,
  ): Promise<Pick<PreparedSale, "items" | "composed">> => {
    const { branch, saleId, callback = "auto" } = sale;
    if (!lines || finished) return {};
    const { connection, businessId } = profile;
    const { catalogue, catalogueAgeMs = 0 } = connections.get(connection) ?? {};
    const known = catalogue?.resolve(businessId, lines, nowMs() - catalogueAgeMs);
    if (known?.kind !== "resolved") return {};
    const { items } = known;
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

/** The first activity of a sale gives them along. */
export function withGoods(
  prepareSale: MainActivities["prepareSale"],
  goodsAtOnce: ReturnType<typeof createGoodsAtOnce>,
): MainActivities["prepareSale"] {
  return async (request) => {
    const prepared = await prepareSale(request);
    return { ...prepared, ...(await goodsAtOnce(prepared, prepared.sale.lines ?? request.input?.lines)) };
  };
}

/** The URL to which a workflow's result callbacks come; undefined where none can be had. */
export type CallbackUrlFor = (workflowId: string) => string | undefined;

/**
 * Fixes the bytes of a create request, its callback URL among them, once: a body that is repeated under its key stays
 * the same after secrets, public URL or dialect have changed.
 */
export function createComposeActivities(context: ActivityContext, callbackUrlFor: CallbackUrlFor) {
  const urlFor = (workflowId: string, wanted: "auto" | "off"): string | undefined =>
    wanted === "off" ? undefined : callbackUrlFor(workflowId);

  return {
    composeSale: async ({ connection, workflowId, callback, ...sale }) => {
      const runtime = context.connections.get(connection);
      if (!runtime) return unserved(context, connection);
      const { dialect, profile } = runtime;
      const url = urlFor(workflowId, callback);
      const callbackExpected = url !== undefined && dialect.createSale.fields.callbackUrl !== null;
      return composed(callbackExpected, () =>
        composeCreateSale(dialect, profile.keyReach, { ...sale, callbackUrl: url }),
      );
    },

    composeCreditNote: async ({ connection, workflowId, callback, reason, ...note }) => {
      const runtime = context.connections.get(connection);
      if (!runtime) return unserved(context, connection);
      const { dialect, profile } = runtime;
      const url = urlFor(workflowId, callback);
      return composed(url !== undefined, () =>
        // The reason went through the input's schema.
        composeCreditNote(dialect, profile.keyReach, { ...note, reason: reason as RefundReason, callbackUrl: url }),
      );
    },
  } satisfies Partial<MainActivities>;
}

/**
 * A worker that does not serve the connection may take it as well: an operator is shown which, and the workflow looks
 * again by itself.
 */
function unserved(context: ActivityContext, connection: string): Composed {
  return { kind: "refused", attention: "credentials", message: notServedMessage(context.connections, connection) };
}

function composed(callbackExpected: boolean, compose: () => ComposedRequest): Composed {
  try {
    return { kind: "composed", request: compose(), callbackExpected };
  } catch (error) {
    if (!(error instanceof ComplianceInputError)) throw error;
    return { kind: "refused", attention: "invalid-request", message: error.message };
  }
}
