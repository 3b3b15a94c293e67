import { Context } from "@temporalio/activity";

import { classifyDocument } from "../../src/compliance/index.ts";
import type { ComplianceActivities } from "../../src/contract/index.ts";
import { writerOf } from "../ledger/claim-results.ts";
import { onceThere } from "../ledger/once-there.ts";
import { beyondTheTable, judge, refusalOf, throwToTryAgain } from "./judge.ts";
import { type ActivityContext, runtimeOf } from "./runtime.ts";

export function createReconcileActivities(context: ActivityContext): Pick<ComplianceActivities, "reconcileDocument"> {
  const { ledger, random } = context;
  return {
    async reconcileDocument(request) {
      const runtime = runtimeOf(context, request.connection);
      const { connection, businessId, type, number, saleId } = request;
      // An answer that could not be compared is not asked for: its call would be wasted.
      await onceThere(() => ledger.answers(), random);
      const judged = await judge(
        runtime,
        "getSale",
        request,
        () => runtime.client.getSale(saleId, { businessId }),
        (result) => classifyDocument(result, runtime.dialect),
      );
      throwToTryAgain(judged, random);
      const refusal = judged.data ? undefined : (refusalOf(judged) ?? beyondTheTable(judged));
      if (refusal && refusal.attention !== "not-found") return refusal;
      const document = { type, number, saleId };
      const writer = writerOf(Context.current().info);
      const kind = await onceThere(
        () => ledger.reconciliation.holdDocument({ connection, businessId }, document, judged.data, writer),
        random,
      );
      return { kind };
    },
  };
}
