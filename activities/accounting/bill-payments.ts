import type { BillPaymentsPage, ListBillPaymentsInput } from "../../src/accounting/index.ts";
import {
  type AccountingActivities,
  type BillPayment,
  LARGEST_BILL_PAYMENT_PAGE,
  type Refusal,
} from "../../src/contract/index.ts";
import { refusalOf, servedIn, throwIfRetryable } from "../classified-call.ts";
import { keepRows } from "../listed-rows.ts";
import { type AccountingContext, type AccountingRuntime, callAndClassify } from "./calls.ts";

/** The latest changes first: what changes while the list is read comes before what was read. */
const ORDER = { sortBy: "updatedAt", sortDirection: "desc" } as const;

/** Enough that a payment which goes its way between two looks does not stand for the list. */
const SAMPLE = 10;

/**
 * A page that was the next one may be gone when it is asked for: rows were removed meanwhile, and the list ends before
 * it. What a service answers then is not shown: a page without rows, its last one, or 404. Each is the end of the list,
 * and of no concern to an operator.
 */
export function createBillPaymentActivities(context: AccountingContext) {
  const { ledger, random } = context;
  async function list(runtime: AccountingRuntime, asked: ListBillPaymentsInput) {
    const classified = await callAndClassify(runtime, "listBillPayments", () => runtime.client.listBillPayments(asked));
    throwIfRetryable(classified, random);
    const { data, odd = [] } = classified;
    return data ? { data, odd } : refusalOf(classified);
  }
  return {
    async keepBillPaymentsPage(request) {
      const runtime = servedIn(context.accounting, request.connection);
      const { connection, status, cursor = "1", knownUntilMs } = request;
      const page = Number(cursor);
      // A page that could not be kept is not asked for: its call would be wasted.
      const askedAtMs = await ledger.billPayments.now();
      const sent = LARGEST_BILL_PAYMENT_PAGE;
      const listed = await list(runtime, { page, limit: sent, status, ...ORDER });
      if (!("data" in listed)) {
        const isGone = listed.attention === "not-found" && page > 1;
        const end = { rows: 0, added: 0, changed: 0, known: false, nextCursor: null, askedAtMs };
        return isGone ? { kind: "page", ...end } : listed;
      }
      const { odd, data } = listed;
      const strange = notWhatWasAsked(data, page);
      if (strange) return strange;
      const { billPayments: entries, total, limit: answered } = data;
      const where = { service: "accounting", connection } as const;
      const size = { answered, sent, setting: "billPayments.limit", name: runtime.dialect.billPayments.limit };
      const dates = { field: "date", of: ({ date }: BillPayment) => date };
      const nextCursor = data.hasNextPage && entries.length + odd.length > 0 ? String(page + 1) : null;
      const given = { where, list: "bill payments", entries, odd, size, dates, askedAtMs, nextCursor, total } as const;
      return await keepRows(context.observer, given, (rows) =>
        ledger.billPayments.keepPage({ connection, status, knownUntilMs, ...rows }),
      );
    },

    async sampleBillPayments({ connection, status }) {
      const runtime = servedIn(context.accounting, connection);
      const listed = await list(runtime, { page: 1, limit: SAMPLE, status, ...ORDER });
      if (!("data" in listed)) return listed;
      return { kind: "sample", ids: listed.data.billPayments.slice(0, SAMPLE).map(({ id }) => id) };
    },
  } satisfies Partial<AccountingActivities>;
}

/**
 * The names of the inputs are not shown, and a service may ignore one that it does not know: then every page would be
 * the first, or come in any order, without an error. What shows that is not kept.
 */
function notWhatWasAsked(
  { page, totalPages, hasNextPage, billPayments }: BillPaymentsPage,
  asked: number,
): Refusal | undefined {
  const refused = (message: string): Refusal => ({ kind: "refused", attention: "unexpected-answer", message });
  // The last page in place of one that is gone; one who ignores the number has others behind the page that it gives.
  const isTheEnd = page < asked && page >= totalPages && !hasNextPage;
  if (page !== asked && !isTheEnd) {
    return refused(
      `Page ${asked} was asked for, and the accounting service answered page ${page}: look at billPayments.page of ACCOUNTING_DIALECT.`,
    );
  }
  const times = billPayments.map(({ updatedAt }) => Date.parse(updatedAt ?? "")).filter((time) => !Number.isNaN(time));
  if (times.some((time, index) => time > (times[index - 1] ?? time))) {
    return refused(
      `The page is not sorted by ${ORDER.sortBy} ${ORDER.sortDirection}, as was asked for: look at billPayments.sortBy and billPayments.sortDirection of ACCOUNTING_DIALECT.`,
    );
  }
  return undefined;
}
