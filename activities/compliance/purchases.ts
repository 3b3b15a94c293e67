import { Context } from "@temporalio/activity";

import { classifyAnswer } from "../../src/compliance/index.ts";
import type { ComplianceActivities } from "../../src/contract/index.ts";
import { writerOf } from "../ledger/claim-results.ts";
import { onceThere } from "../ledger/once-there.ts";
import { beyondTheTable, judge, refusalOf, throwToTryAgain } from "./judge.ts";
import { type ActivityContext, runtimeOf } from "./runtime.ts";

/** Fiscal Compliance API, "GET /v1/purchases": 1 to 100, and not clamped. */
const PAGE_SIZE = 100;

export function createPurchaseActivities(
  context: ActivityContext,
): Pick<ComplianceActivities, "pullPurchases" | "keepPurchasesPage"> {
  const { ledger, random } = context;
  return {
    async pullPurchases(request) {
      const runtime = runtimeOf(context, request.connection);
      const { businessId } = request;
      const judged = await judge(
        runtime,
        "pullPurchases",
        request,
        () => runtime.client.pullPurchases({ businessId }),
        (result) => classifyAnswer(result, runtime.dialect),
      );
      throwToTryAgain(judged, random);
      if (judged.meaning.kind === "ok") return { kind: "pulled" };
      return refusalOf(judged) ?? beyondTheTable(judged);
    },

    async keepPurchasesPage(request) {
      const runtime = runtimeOf(context, request.connection);
      const { connection, businessId, syncId, pass, cursor, from, to } = request;
      // A page that could not be kept is not asked for: its call would be wasted.
      const askedAtMs = await onceThere(() => ledger.purchases.now(), random);
      const status = pass === "list" || pass === "changed" ? undefined : pass;
      const judged = await judge(
        runtime,
        "listPurchases",
        request,
        () => runtime.client.listPurchases({ cursor, pageSize: PAGE_SIZE, status, from, to }, { businessId }),
        (result) => classifyAnswer(result, runtime.dialect),
      );
      throwToTryAgain(judged, random);
      if (!judged.data) return refusalOf(judged) ?? beyondTheTable(judged);
      const { purchases, nextCursor } = judged.data;
      const writer = writerOf(Context.current().info);
      const page = { connection, businessId, syncId, purchases, askedAtMs, writer };
      const kept = await onceThere(
        () => ledger.purchases.keepPage({ ...page, pass: pass === "list" ? "list" : "part" }),
        random,
      );
      return { kind: "page", ...kept, nextCursor };
    },
  };
}
