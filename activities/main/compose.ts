import { Context } from "@temporalio/activity";

import { composeCreateSale, composeCreditNote } from "../../src/compliance/index.ts";
import { CallInputError } from "../../src/http/service-call.ts";
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
import type { ActivityContext, ComplianceRuntime } from "../compliance/calls.ts";

/** A larger sale has its request composed by an activity of its own: both in one payload would be too much. */
const MOST_LINES = 200;

/** What of a sale's goods is known without a call; the create request too if nothing has to be looked up. */
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

/** Fixes the bytes of a create request once: they stay the same after secrets, public URL or dialect have changed. */
export function createComposeActivities(context: ActivityContext, callbackUrlFor: CallbackUrlFor) {
  function composed(
    { connection, workflowId, callback }: { connection: string; workflowId: string; callback: "auto" | "off" },
    takesCallback: (runtime: ComplianceRuntime) => boolean,
    compose: (runtime: ComplianceRuntime, callbackUrl: string | undefined) => ComposedRequest,
  ): Composed {
    const runtime = context.connections.get(connection);
    // Another worker may serve the connection: an operator is shown which, and the workflow looks again by itself.
    if (!runtime)
      return { kind: "refused", attention: "credentials", message: notServedMessage(context.connections, connection) };
    const callbackUrl = callback === "off" || !takesCallback(runtime) ? undefined : callbackUrlFor(workflowId);
    try {
      return { kind: "composed", request: compose(runtime, callbackUrl), callbackExpected: callbackUrl !== undefined };
    } catch (error) {
      if (!(error instanceof CallInputError)) throw error;
      return { kind: "refused", attention: "invalid-request", message: error.message };
    }
  }

  return {
    composeSale: async ({ connection, workflowId, callback, ...sale }) =>
      composed(
        { connection, workflowId, callback },
        ({ dialect }) => dialect.createSale.fields.callbackUrl !== null,
        ({ dialect, profile }, callbackUrl) => composeCreateSale(dialect, profile.keyReach, { ...sale, callbackUrl }),
      ),

    composeCreditNote: async ({ connection, workflowId, callback, reason, ...note }) =>
      composed(
        { connection, workflowId, callback },
        () => true,
        ({ dialect, profile }, callbackUrl) =>
          // The reason went through the input's schema.
          composeCreditNote(dialect, profile.keyReach, { ...note, reason: reason as RefundReason, callbackUrl }),
      ),
  } satisfies Partial<MainActivities>;
}
