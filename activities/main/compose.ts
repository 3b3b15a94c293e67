import { composeCreateSale, composeCreditNote, ComplianceInputError } from "../../src/compliance/index.ts";
import type { Composed, ComposedRequest, MainActivities, RefundReason } from "../../src/contract/index.ts";
import { type ActivityContext, servesNo } from "../compliance/runtime.ts";

/** The URL to which a workflow's result callbacks come; undefined where none can be had. */
export type CallbackUrlFor = (workflowId: string) => string | undefined;

/**
 * Fixes the bytes of a create request, its callback URL among them, once: a body that is repeated under its key stays the same after
 * secrets, public URL or dialect have changed.
 */
export function createComposeActivities(
  context: ActivityContext,
  callbackUrlFor: CallbackUrlFor,
): Pick<MainActivities, "composeSale" | "composeCreditNote"> {
  const urlFor = (workflowId: string, wanted: "auto" | "off"): string | undefined =>
    wanted === "off" ? undefined : callbackUrlFor(workflowId);

  return {
    async composeSale({ connection, workflowId, callback, ...sale }) {
      const runtime = context.connections.get(connection);
      if (!runtime) return unserved(context, connection);
      const { dialect, profile } = runtime;
      const url = urlFor(workflowId, callback);
      const callbackExpected = url !== undefined && dialect.createSale.fields.callbackUrl !== null;
      return composed(callbackExpected, () =>
        composeCreateSale(dialect, profile.keyReach, { ...sale, callbackUrl: url }),
      );
    },

    async composeCreditNote({ connection, workflowId, callback, reason, ...note }) {
      const runtime = context.connections.get(connection);
      if (!runtime) return unserved(context, connection);
      const { dialect, profile } = runtime;
      const url = urlFor(workflowId, callback);
      return composed(url !== undefined, () =>
        // The reason went through the input's schema.
        composeCreditNote(dialect, profile.keyReach, { ...note, reason: reason as RefundReason, callbackUrl: url }),
      );
    },
  };
}

/** A worker that does not serve the connection may take it as well: a person is shown which, and the workflow looks again by itself. */
function unserved(context: ActivityContext, connection: string): Composed {
  return { kind: "refused", attention: "credentials", message: servesNo(context, connection) };
}

function composed(callbackExpected: boolean, compose: () => ComposedRequest): Composed {
  try {
    return { kind: "composed", request: compose(), callbackExpected };
  } catch (error) {
    if (!(error instanceof ComplianceInputError)) throw error;
    return { kind: "refused", attention: "invalid-request", message: error.message };
  }
}
