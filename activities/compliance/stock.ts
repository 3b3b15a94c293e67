import { classifyMovement, ComplianceApiError, UnexpectedAnswerError } from "../../src/compliance/index.ts";
import type { ComplianceActivities } from "../../src/contract/index.ts";
import { TransportError } from "../../src/http/errors.ts";
import { afterQuotaMs } from "../failure.ts";
import { judge, refusalOf } from "./judge.ts";
import { type ActivityContext, servesNo } from "./runtime.ts";

/**
 * A stock adjustment is sent at most once (architecture, decision 6), so nothing here throws in order to be repeated, and nothing is
 * tied to the activity's cancellation: an aborted request would be one more unknown outcome.
 */
export function createStockActivities(context: ActivityContext): Pick<ComplianceActivities, "adjustStock"> {
  const { nowMs, random } = context;
  return {
    async adjustStock(request) {
      const runtime = context.connections.get(request.connection);
      // Nothing was sent, and only a result says so: a failure would be one more unknown outcome.
      if (!runtime) return { kind: "deferred", message: servesNo(context, request.connection) };
      const { businessId, referenceId, itemId, action, quantity, unitPrice, branch } = request;
      const sentAtMs = nowMs();
      const judged = await judge(
        runtime,
        "adjustStock",
        request,
        () => runtime.client.adjustStock({ referenceId, itemId, action, quantity, unitPrice, branch }, { businessId }),
        (result) => classifyMovement(result, runtime.dialect),
      );
      const { meaning, data, message, error } = judged;
      if (data) {
        const { movementId, branchId, quantityOnHand, report } = data;
        // Where the dialect reads no report there is none that could be wrong; where it does, one that is missing is not `ok`.
        const shown =
          meaning.kind === "unreported" ? { stockIo: "missing", stockMaster: "missing", ...report } : undefined;
        return {
          kind: "applied",
          movementId,
          branchId: branchId || undefined,
          quantityOnHand,
          report: shown,
          sentAtMs,
        };
      }
      if (meaning.kind === "deferred")
        return { kind: "deferred", retryAfterMs: afterQuotaMs(meaning.retryAfterMs, random), message };
      if (meaning.kind === "not-applied") return { kind: "deferred", message };
      const refusal = refusalOf(judged);
      if (refusal && meaning.kind !== "unexpected") return { kind: "not-applied", refusal };
      return { kind: "unknown", message, evidence: { sentAtMs, ...whatCameBack(error) } };
    },
  };
}

function whatCameBack(error: unknown): Record<string, unknown> {
  if (error instanceof TransportError) return { cameBack: error.code };
  if (error instanceof ComplianceApiError || error instanceof UnexpectedAnswerError)
    return { cameBack: `HTTP ${error.status}`, bodyExcerpt: error.bodyExcerpt ?? null };
  return { cameBack: error instanceof Error ? error.name : "nothing" };
}
