import type { Config } from "../../config/index.ts";
import { money } from "../../contract/decimal.ts";
import { nairobiInstant, nairobiTime } from "../../contract/nairobi-date.ts";
import {
  accountingChain,
  type BillPaymentsOfPeriod,
  type Ledger,
  type ListedBillPayment,
  type ListedEntry,
  type ListedPurchase,
  type PeriodOfOwner,
  type PurchasesOfPeriod,
} from "../../ledger/index.ts";
import { UsageError } from "../context.ts";
import type { Scope } from "../options.ts";
import { plain } from "../output.ts";
import { headOf, refuseUnknown, titleOf, withSeller } from "../report/asked.ts";
import { type Column, countNote, plainTable, rateColumns } from "../tables.ts";
import { type PeriodList, runList } from "./period-list.ts";
import type { RunList } from "../register-outputs.ts";

/**
 * Purchases and bill payments, which a synchronisation has copied from a service. What the service does not show of
 * one is no column.
 */

export const listPurchases: RunList = (context, asked) => runList(context, LIST_OF_PURCHASES, asked);
export const listBillPayments: RunList = (context, asked) => runList(context, LIST_OF_BILL_PAYMENTS, asked);

const PURCHASE_COLUMNS: readonly Column<ListedPurchase>[] = [
  { csv: "connection", of: "connection" },
  { csv: "business", of: "businessId" },
  { csv: "date", head: "DATE", of: "invoiceDate" },
  { csv: "invoice_number", head: "NUMBER", of: "supplierInvoiceNumber" },
  { csv: "supplier_name", head: "SUPPLIER", of: "supplierName" },
  { csv: "supplier_pin", head: "PIN", of: "supplierPin" },
  { csv: "branch", of: "branch" },
  { csv: "subtotal", head: "SUBTOTAL", of: "subtotal", isAmount: true },
  { csv: "vat", head: "VAT", of: "vat", isAmount: true },
  { csv: "total", head: "TOTAL", of: "total", isAmount: true },
  { csv: "status", head: "STATUS", of: "status" },
  {
    head: "VAT BY RATE",
    of: ({ rates }) => rates.map(({ taxRate, vat }) => `${taxRate} %: ${money(vat)}`).join(", ") || null,
  },
  { csv: "confirmation_error", of: "confirmationError" },
  { csv: "purchase_id", of: "purchaseId" },
  { csv: "more_than_once", of: "moreThanOnce" },
  ...lookColumns<ListedPurchase>(({ moreThanOnce, confirmationError }) => [
    moreThanOnce && "more than once",
    confirmationError !== null && `confirmation error: ${confirmationError}`,
  ]),
];

const LIST_OF_PURCHASES: PeriodList<PurchasesOfPeriod, ListedPurchase, ListedPurchase> = {
  read: (ledger, request, write) => ledger.purchases.list(request, write),
  refuseUnknown,
  titleOf: (business, { days, sellerOf }) =>
    `${headOf(business, sellerOf)}, purchases of ${titleOf(days)}, ${asOf(business)}`,
  below: (business) => {
    const byStatus = business.sums.map((of) => [
      sumsName(of.status, of),
      String(of.count),
      money(of.subtotal),
      money(of.vat),
      money(of.total),
    ]);
    const byRate = business.rateSums.map((of) => [
      sumsName(of.status, of),
      `${of.taxRate} %`,
      String(of.count),
      money(of.vat),
      money(of.lineTotal),
    ]);
    return [
      plainTable(["STATUS", "COUNT", "SUBTOTAL", "VAT", "TOTAL"], byStatus, [1, 2, 3, 4]),
      // No lines are known.
      ...(byRate.length === 0
        ? []
        : [plainTable(["STATUS", "RATE", "COUNT", "VAT", "TOTAL OF LINES"], byRate, [1, 2, 3, 4])]),
      ...syncedNotes(business, "purchases"),
      ...countNote(
        "Listed with the supplier's PIN and the number of another one",
        business.moreThanOnce,
        "See in the API's dashboard which of them counts.",
      ),
    ];
  },
  fields: ["businesses", "purchases"],
  figuresOf: ({ pages: _pages, ...figures }, { sellerOf }) => withSeller(figures, sellerOf),
  told: (purchase) => purchase,
  columns: (businesses) => [...PURCHASE_COLUMNS, ...vatColumns(businesses)],
  noOwner:
    "The ledger has no purchases of that connection and business. To read them: fiscalflow purchases sync --wait",
};

function vatColumns(businesses: readonly PurchasesOfPeriod[]): Column<ListedPurchase>[] {
  const rates = businesses.flatMap(({ taxRates }) => taxRates).toSorted((one, other) => Number(other) - Number(one));
  return rateColumns(
    rates,
    (purchase: ListedPurchase) => purchase.rates,
    ({ taxRate }) => taxRate,
    {
      line_total: ({ lineTotal }) => lineTotal,
      vat: ({ vat }) => vat,
    },
  );
}

const BILL_PAYMENT_COLUMNS: readonly Column<ListedBillPayment>[] = [
  { csv: "connection", of: "connection" },
  { csv: "date", head: "DATE", of: "date" },
  { csv: "code", head: "CODE", of: "billPaymentCode" },
  { csv: "bill_code", head: "BILL", of: "billCode" },
  { csv: "supplier_name", head: "SUPPLIER", of: "supplierName" },
  { csv: "account_name", of: "accountName" },
  { csv: "payment_method_name", head: "METHOD", of: "paymentMethodName" },
  {
    csv: "currency",
    head: "CURRENCY",
    of: "currency",
    shown: ({ currency, currencyRate }) =>
      `${currency ?? "-"}${currencyRate === null ? "" : ` at ${plain(currencyRate)}`}`,
  },
  { csv: "currency_rate", of: "currencyRate" },
  { csv: "total_amount", head: "AMOUNT", of: "totalAmount", isAmount: true },
  { csv: "sync_status", head: "SYNC STATUS", of: "syncStatus" },
  { csv: "note", of: "note" },
  { csv: "bill_payment_id", of: "billPaymentId" },
  { csv: "bill_id", of: "billId" },
  { csv: "supplier_id", of: "supplierId" },
  { csv: "account_id", of: "accountId" },
  { csv: "payment_method_id", of: "paymentMethodId" },
  ...lookColumns<ListedBillPayment>(() => []),
];

const SYNC_STATUS =
  "Note: SYNC STATUS is the accounting service's own word: the list of that status has the payment. - is in none.";

const LIST_OF_BILL_PAYMENTS: PeriodList<BillPaymentsOfPeriod, ListedBillPayment, ListedBillPayment> = {
  read: (ledger, { days, connection }, write) => ledger.billPayments.list({ days, connection }, write),
  refuseUnknown: refuseUnknownConnection,
  titleOf: (connection, { days }) =>
    `Bill payments of ${titleOf(days)} (accounting connection ${connection.connection}), ${asOf(connection)}`,
  below: (connection) => {
    const rows = connection.sums.map((of) => [
      of.currency ?? "-",
      sumsName(of.syncStatus ?? "-", of),
      String(of.count),
      money(of.totalAmount),
    ]);
    const withoutAmount = connection.sums.reduce((sum, of) => sum + of.withoutAmount, 0);
    return [
      plainTable(["CURRENCY", "SYNC STATUS", "COUNT", "AMOUNT"], rows, [2, 3]),
      ...(rows.length === 0 ? [] : [SYNC_STATUS]),
      ...syncedNotes(connection, "bill-payments"),
      ...countNote("Listed without an amount, so in no sum", withoutAmount),
    ];
  },
  fields: ["connections", "billPayments"],
  figuresOf: ({ pages: _pages, businessId: _none, ...figures }) => figures,
  told: (payment) => payment,
  columns: () => BILL_PAYMENT_COLUMNS,
  noOwner: "The ledger has no bill payments of that connection. To read them: fiscalflow bill-payments sync --wait",
};

/** @throws UsageError where neither the ledger nor the configuration has the connection */
async function refuseUnknownConnection(
  { events }: Pick<Ledger, "events">,
  { accounting }: Pick<Config, "accounting">,
  { connection }: Scope,
): Promise<void> {
  if (connection === undefined || accounting.some(({ name }) => name === connection)) return;
  if (await events.any({ connection: accountingChain(connection).connection })) return;
  throw new UsageError(`Neither the ledger nor the configuration has an accounting connection "${connection}".`);
}

/** For a title: `whole list as of 2026-11-24 03:00 EAT, what is new as of 2026-11-24 13:05 EAT`. */
function asOf({
  syncedAtMs: whole,
  newestSyncedAtMs: newest,
}: Pick<PeriodOfOwner<never>, "syncedAtMs" | "newestSyncedAtMs">): string {
  const all = whole === null ? "never read as a whole" : `whole list as of ${nairobiTime(whole)}`;
  return newest === null || newest === whole ? all : `${all}, what is new as of ${nairobiTime(newest)}`;
}

interface Sums {
  missing: boolean;
  count: number;
}

function sumsName(status: string, { missing }: Sums): string {
  return missing ? `${status}, no longer listed` : status;
}

function lookColumns<Entry extends ListedEntry>(more: (entry: Entry) => (string | false)[]): Column<Entry>[] {
  return [
    {
      csv: "missing_since",
      of: ({ missingSinceMs }) => (missingSinceMs === null ? null : nairobiInstant(missingSinceMs)),
    },
    { csv: "altered", of: ({ altered }) => altered },
    {
      head: "LOOK AT",
      of: (entry) =>
        [
          entry.missingSinceMs !== null && `no longer listed since ${nairobiTime(entry.missingSinceMs)}`,
          entry.altered && "altered in the ledger",
          ...more(entry),
        ]
          .filter(Boolean)
          .join(", "),
    },
  ];
}

/** @param group of the commands that read them: `purchases` */
function syncedNotes(
  { syncedAtMs, sums, altered, undated, firstUndated }: PeriodOfOwner<unknown> & { sums: readonly Sums[] },
  group: string,
): string[] {
  const missing = sums.reduce((sum, of) => sum + (of.missing ? of.count : 0), 0);
  const never = `No synchronisation has read them all yet, so some may be missing. See: fiscalflow ${group} sync --full --wait`;
  return [
    ...(syncedAtMs === null ? [`Note: ${never}`] : []),
    ...countNote("Listed here and no longer by the service, so with sums of their own", missing),
    ...countNote("Altered in the ledger, so not as its events say", altered, "See: fiscalflow ledger verify"),
    ...countNote(
      "Without a date that exists, written YYYY-MM-DD, so in no list",
      undated,
      `The first: ${JSON.stringify(firstUndated)}.`,
    ),
  ];
}
