import type { ComplianceDialect, Purchase } from "../../src/compliance/index.ts";
import { type ComplianceActivities, isCalendarDate, type PageRequest, type Refusal } from "../../src/contract/index.ts";
import { refusalOf } from "../classified-call.ts";
import { type ActivityContext, ask, runtimeOf } from "./calls.ts";
import { keepRows } from "../observer.ts";

/** Fiscal Compliance API, "GET /v1/purchases": 1 to 100, and not clamped. */
const PAGE_SIZE = 100;

export function createPurchaseActivities(context: ActivityContext) {
  const { ledger } = context;
  return {
    async pullPurchases(request) {
      const { businessId } = request;
      const classified = await ask(context, request, "pullPurchases", ({ client }) =>
        client.pullPurchases({ businessId }),
      );
      return classified.meaning.kind === "ok" ? { kind: "pulled" } : refusalOf(classified);
    },

    async keepPurchasesPage(request) {
      const { client, dialect } = runtimeOf(context, request.connection);
      const { connection, businessId, cursor, status, from, to, knownUntilMs } = request;
      // A page that could not be kept is not asked for: its call would be wasted.
      const askedAtMs = await ledger.purchases.now();
      const classified = await ask(context, request, "keepPurchasesPage", () =>
        client.listPurchases({ cursor, pageSize: PAGE_SIZE, status, from, to }, { businessId }),
      );
      if (!classified.data) return refusalOf(classified);
      const { purchases: entries, nextCursor, pageSize: answered } = classified.data;
      const names = dialect.purchases;
      const strange = notWhatWasAsked(entries, request, names);
      if (strange) return strange;
      const { odd = [] } = classified;
      const where = { service: "compliance", connection, businessId } as const;
      const size = { answered, sent: PAGE_SIZE, setting: "purchases.pageSize", name: names.pageSize };
      const dates = { field: "invoiceDate", of: ({ invoiceDate }: Purchase) => invoiceDate };
      const listed = { where, list: "purchases", entries, odd, size, dates, askedAtMs, nextCursor } as const;
      return await keepRows(context.observer, listed, (page) =>
        ledger.purchases.keepPage({ connection, businessId, knownUntilMs, ...page }),
      );
    },
  } satisfies Partial<ComplianceActivities>;
}

/**
 * A service may ignore a filter whose name it does not know. Such a page is not kept: what is read beyond it would be
 * the whole list.
 */
function notWhatWasAsked(
  purchases: readonly Purchase[],
  { status, from, to }: PageRequest,
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
    // A date that is none shows nothing of the filter.
    const isDay = isCalendarDate(day);
    if (status !== undefined && names.status !== null && its !== status)
      return refused(`that are \`${status}\``, purchase, `\`${its}\``, "purchases.status");
    if (from !== undefined && names.from !== null && isDay && day < from)
      return refused(`of ${from} and later`, purchase, `of ${day}`, "purchases.from");
    if (to !== undefined && names.to !== null && isDay && day > to)
      return refused(`of ${to} and earlier`, purchase, `of ${day}`, "purchases.to");
  }
  return undefined;
}
