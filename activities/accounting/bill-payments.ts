import type { BillPaymentsPage, ListBillPaymentsInput } from "../../src/accounting/index.ts";
import {
  type AccountingActivities,
  type BillPayment,
  type BillPaymentsOrder,
  type BillPaymentsPageRequest,
  LARGEST_BILL_PAYMENT_PAGE,
  type Refusal,
} from "../../src/contract/index.ts";
import { refusalOf, servedIn, throwIfRetryable } from "../classified-call.ts";
import { fingerprintOf, idsOf, keepRows } from "../listed-rows.ts";
import { type AccountingContext, type AccountingRuntime, callAndClassify } from "./calls.ts";

const ORDERS = {
  created: { sortBy: "createdAt", sortDirection: "asc" },
  latest: { sortBy: "updatedAt", sortDirection: "desc" },
} as const;

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
      const { connection, order, status, page, round } = request;
      // A page that could not be kept is not asked for: its call would be wasted.
      const askedAtMs = await ledger.billPayments.now();
      const sent = LARGEST_BILL_PAYMENT_PAGE;
      const listed = await list(runtime, { page, limit: sent, status, ...ORDERS[order] });
      if (!("data" in listed)) {
        const isGone = listed.attention === "not-found" && page > 1;
        return isGone ? { kind: "page", rows: 0, added: 0, changed: 0, hasNextPage: false, askedAtMs } : listed;
      }
      const strange = notWhatWasAsked(listed.data, request);
      if (strange) return strange;
      const { odd, data } = listed;
      const { billPayments: entries, total, limit: answered } = data;
      const where = { service: "accounting", connection } as const;
      const size = { answered, sent, setting: "billPayments.limit", name: runtime.dialect.billPayments.limit };
      const dates = { field: "date", of: ({ date }: BillPayment) => date };
      const given = { where, list: "bill payments", entries, odd, size, dates } as const;
      const kept = await keepRows(context.observer, given, (rows) =>
        ledger.billPayments.keepPage({ connection, status, round, askedAtMs, ...rows }),
      );
      const hasNextPage = data.hasNextPage && entries.length + odd.length > 0;
      const fingerprint = fingerprintOf([...entries.map(({ id }) => id), ...idsOf(odd)]);
      return { ...kept, total, hasNextPage, ...fingerprint, askedAtMs, ...spanOf(entries, askedAtMs) };
    },

    async sampleBillPayments({ connection, status }) {
      const runtime = servedIn(context.accounting, connection);
      // The oldest: least likely to change their status between two looks.
      const listed = await list(runtime, { page: 1, limit: SAMPLE, status, ...ORDERS.created });
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
  request: BillPaymentsPageRequest,
): Refusal | undefined {
  const refused = (message: string): Refusal => ({ kind: "refused", attention: "unexpected-answer", message });
  // The last page in place of one that is gone; one who ignores the number has others behind the page that it gives.
  const isTheEnd = page < request.page && page >= totalPages && !hasNextPage;
  if (page !== request.page && !isTheEnd) {
    return refused(
      `Page ${request.page} was asked for, and the accounting service answered page ${page}: look at billPayments.page of ACCOUNTING_DIALECT.`,
    );
  }
  const sort = ORDERS[request.order];
  if (!isInOrder(billPayments, request.order)) {
    return refused(
      `The page is not sorted by ${sort.sortBy} ${sort.sortDirection}, as was asked for: look at billPayments.sortBy and billPayments.sortDirection of ACCOUNTING_DIALECT.`,
    );
  }
  return undefined;
}

function isInOrder(payments: readonly BillPayment[], order: BillPaymentsOrder): boolean {
  const times = timesOf(payments, order === "created" ? "createdAt" : "updatedAt");
  const wrong = times.findIndex((time, index) => {
    const before = times[index - 1] ?? time;
    return order === "created" ? time < before : time > before;
  });
  return wrong === -1;
}

function spanOf(payments: readonly BillPayment[], askedAtMs: number) {
  const updated = timesOf(payments, "updatedAt");
  return {
    newestCreatedMs: most(timesOf(payments, "createdAt")),
    newestUpdatedMs: newestUntil(askedAtMs, updated),
    oldestUpdatedMs: updated.length === 0 ? undefined : Math.min(...updated),
  };
}

/**
 * A change of the future would make known ground of all that comes before it. Where there are others they count, by the
 * service's own clock; where a whole page is of the future, what was asked for by now is as far as can be known.
 */
function newestUntil(nowMs: number, times: readonly number[]): number | undefined {
  return most(times.filter((time) => time <= nowMs)) ?? (times.length === 0 ? undefined : nowMs);
}

function most(times: readonly number[]): number | undefined {
  return times.length === 0 ? undefined : Math.max(...times);
}

/** Of those that have one. */
function timesOf(payments: readonly BillPayment[], field: "createdAt" | "updatedAt"): number[] {
  return payments.map((payment) => Date.parse(payment[field] ?? "")).filter((time) => !Number.isNaN(time));
}
