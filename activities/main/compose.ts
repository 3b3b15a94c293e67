import { callbackUrl, createCallbackToken } from "../../src/callbacks/index.ts";
import { composeCreateSale, composeCreditNote, ComplianceInputError } from "../../src/compliance/index.ts";
import type { Composed, ComposedRequest, MainActivities, RefundReason } from "../../src/contract/index.ts";
import { type ActivityContext, runtimeOf } from "../compliance/runtime.ts";

/** Where result callbacks come in, and the secret that signs their URLs. */
export interface CallbackSigning {
  publicUrl: string;
  secret: string;
}

/**
 * Fixes the bytes of a create request, its callback URL among them, once: a body that is repeated under its key stays the same after
 * secrets, public URL or dialect have changed.
 */
export function createComposeActivities(
  context: ActivityContext,
  callbacks: CallbackSigning | undefined,
): Pick<MainActivities, "composeSale" | "composeCreditNote"> {
  function urlFor(workflowId: string, wanted: "auto" | "off"): string | undefined {
    if (wanted === "off" || !callbacks) return undefined;
    try {
      return callbackUrl(callbacks, createCallbackToken({ workflowId }, callbacks.secret));
    } catch (error) {
      // A workflow that somebody started under an id of his own, too long for a URL: it is finished by polling.
      if (error instanceof RangeError) return undefined;
      throw error;
    }
  }

  return {
    async composeSale({ connection, workflowId, callback, ...sale }) {
      const { dialect, profile } = runtimeOf(context, connection);
      const url = urlFor(workflowId, callback);
      const callbackExpected = url !== undefined && dialect.createSale.fields.callbackUrl !== null;
      return composed(callbackExpected, () =>
        composeCreateSale(dialect, profile.keyReach, { ...sale, callbackUrl: url }),
      );
    },

    async composeCreditNote({ connection, workflowId, callback, reason, ...note }) {
      const { dialect, profile } = runtimeOf(context, connection);
      const url = urlFor(workflowId, callback);
      return composed(url !== undefined, () =>
        // The reason went through the input's schema.
        composeCreditNote(dialect, profile.keyReach, { ...note, reason: reason as RefundReason, callbackUrl: url }),
      );
    },
  };
}

function composed(callbackExpected: boolean, compose: () => ComposedRequest): Composed {
  try {
    return { kind: "composed", request: compose(), callbackExpected };
  } catch (error) {
    if (!(error instanceof ComplianceInputError)) throw error;
    return { kind: "refused", attention: "invalid-request", message: error.message };
  }
}
