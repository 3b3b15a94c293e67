import { createHash } from "node:crypto";
import { Context } from "@temporalio/activity";

import type { ComplianceDialect, Purchase, PurchasesPage } from "../../src/compliance/index.ts";
import type { ComplianceActivities, Refusal } from "../../src/contract/index.ts";
import { writerOf } from "../ledger/claim-results.ts";
import { onceThere } from "../failure.ts";
import { noteOddRows } from "../odd-rows.ts";
import { beyondTheTable, callAndClassifyAnswer, refusalOf, throwToTryAgain } from "./call-and-classify.ts";
import { type ActivityContext, type ComplianceRuntime, runtimeOf } from "./runtime.ts";

/** Fiscal Compliance API, "GET /v1/purchases": 1 to 100, and not clamped. */
const PAGE_SIZE = 100;

export function createPurchaseActivities(
  context: ActivityContext,
): Pick<ComplianceActivities, "pullPurchases" | "keepPurchasesPage"> {
  const { ledger, random, observer } = context;
  return {
    async pullPurchases(request) {
      const runtime = runtimeOf(context, request.connection);
      const { businessId } = request;
      const classified = await callAndClassifyAnswer(runtime, "pullPurchases", request, () =>
        runtime.client.pullPurchases({ businessId }),
      );
      throwToTryAgain(classified, random);
      if (classified.meaning.kind === "ok") return { kind: "pulled" };
      return refusalOf(classified) ?? beyondTheTable(classified);
    },

    async keepPurchasesPage(request) {
      const runtime = runtimeOf(context, request.connection);
      const { connection, businessId, syncId, pass, cursor, from, to } = request;
      // A page that could not be kept is not asked for: its call would be wasted.
      const askedAtMs = await onceThere(() => ledger.purchases.now(), random);
      const status = pass === "list" || pass === "changed" ? undefined : pass;
      const classified = await callAndClassifyAnswer(runtime, "listPurchases", request, () =>
        runtime.client.listPurchases({ cursor, pageSize: PAGE_SIZE, status, from, to }, { businessId }),
      );
      throwToTryAgain(classified, random);
      if (!classified.data) return refusalOf(classified) ?? beyondTheTable(classified);
      const { purchases, nextCursor } = classified.data;
      const strange = notWhatWasAsked(purchases, { status, from, to }, runtime.dialect.purchases);
      if (strange) return strange;
      notePageSize(classified.data, runtime, observer);
      const odd = classified.odd ?? [];
      noteOddRows(observer, { service: "compliance", connection, businessId }, "purchases", odd, purchases.length);
      const leftOut = odd.flatMap(({ names }) => names["id"] ?? []);
      const writer = writerOf(Context.current().info);
      const page = { connection, businessId, syncId, entries: purchases, leftOut, askedAtMs, writer };
      const kept = await onceThere(
        () => ledger.purchases.keepPage({ ...page, pass: pass === "list" ? "list" : "part" }),
        random,
      );
      return {
        kind: "page",
        ...kept,
        nextCursor,
        ...(odd.length > 0 && { leftOut: odd.length }),
        ...(leftOut.length < odd.length && { unidentified: true as const }),
        ...fingerprintOf([...purchases.map(({ id }) => id), ...leftOut]),
      };
    },
  };
}

/** Pages of another size are read as well; they only cost more calls. */
function notePageSize(
  { pageSize }: PurchasesPage,
  { dialect, profile }: ComplianceRuntime,
  observer: ActivityContext["observer"],
): void {
  const { pageSize: name } = dialect.purchases;
  if (name === null || pageSize === undefined || pageSize === PAGE_SIZE) return;
  observer.note({
    service: "compliance",
    connection: profile.connection,
    kind: "ignored",
    subject: "purchases.pageSize",
    value: name,
    message: `A page of purchases has the size ${pageSize} where ${PAGE_SIZE} was sent as "${name}" (purchases.pageSize)`,
  });
}

/** What a service gives again and again that does not know the cursor's name. */
function fingerprintOf(ids: readonly string[]): { fingerprint?: string } {
  if (ids.length === 0) return {};
  return { fingerprint: createHash("sha256").update(JSON.stringify(ids)).digest("base64url").slice(0, 22) };
}

/**
 * The names of the filters are not shown, and a service may ignore one that it does not know. A page of a status, or of days, that has
 * other invoices too is not what was asked for, and is not kept: what is read beyond it would be the whole list.
 */
function notWhatWasAsked(
  purchases: readonly Purchase[],
  { status, from, to }: { status: string | undefined; from: string | undefined; to: string | undefined },
  names: ComplianceDialect["purchases"],
): Refusal | undefined {
  const refused = (asked: string, purchase: Purchase, is: string, entries: string): Refusal => ({
    kind: "refused",
    attention: "unexpected-answer",
    message: `Invoices ${asked} were asked for, and "${purchase.id}" is ${is}: look at ${entries} of COMPLIANCE_DIALECT.`,
  });
  for (const purchase of purchases) {
    const { status: its } = purchase;
    const day = purchase.invoiceDate.slice(0, 10);
    if (status !== undefined && names.status !== null && its !== status)
      return refused(`that are \`${status}\``, purchase, `\`${its}\``, "purchases.status");
    if (from !== undefined && names.from !== null && day < from)
      return refused(`of ${from} and later`, purchase, `of ${day}`, "purchases.from");
    if (to !== undefined && names.to !== null && day > to)
      return refused(`of ${to} and earlier`, purchase, `of ${day}`, "purchases.to");
  }
  return undefined;
}
