import { accountingChain, type BillPaymentsOfPeriod, type Ledger, type ListedBillPayment } from "../../ledger/index.ts";
import type { Config } from "../../config/index.ts";
import { UsageError } from "../cli-error.ts";
import type { PeriodList } from "../lists/list.ts";
import { short, sumsTable } from "../lists/render.ts";
import { asOf, LOOK_COLUMNS, looksOf, sumsName, syncedNotes } from "../lists/synced.ts";
import { counted } from "../output.ts";
import { amount, money, plain } from "../report/money.ts";
import { titleOf } from "../report/render-text.ts";
import type { Scope } from "../sale/scope.ts";

/** Of the CSV. What the accounting service does not show of a payment is no column. */
const COLUMNS: readonly [name: string, value: (payment: ListedBillPayment) => string][] = [
  ["connection", ({ connection }) => connection],
  ["date", ({ date }) => date],
  ["code", ({ billPaymentCode }) => billPaymentCode ?? ""],
  ["bill_code", ({ billCode }) => billCode ?? ""],
  ["supplier_name", ({ supplierName }) => supplierName ?? ""],
  ["account_name", ({ accountName }) => accountName ?? ""],
  ["payment_method_name", ({ paymentMethodName }) => paymentMethodName ?? ""],
  ["currency", ({ currency }) => currency ?? ""],
  ["currency_rate", ({ currencyRate }) => currencyRate ?? ""],
  ["total_amount", ({ totalAmount }) => (totalAmount === null ? "" : amount(totalAmount))],
  ["sync_status", ({ syncStatus }) => syncStatus ?? ""],
  ["note", ({ note }) => note ?? ""],
  ["bill_payment_id", ({ billPaymentId }) => billPaymentId],
  ["bill_id", ({ billId }) => billId ?? ""],
  ["supplier_id", ({ supplierId }) => supplierId ?? ""],
  ["account_id", ({ accountId }) => accountId ?? ""],
  ["payment_method_id", ({ paymentMethodId }) => paymentMethodId ?? ""],
  ...LOOK_COLUMNS,
];

export const listOfBillPayments: PeriodList<BillPaymentsOfPeriod, ListedBillPayment> = {
  read: (ledger, { days, connection }, write) => ledger.billPayments.list({ days, connection }, write),
  refuseUnknown,
  absentNote({ accounting }, { connection }, connections) {
    const listed = new Set(connections.map((one) => one.connection));
    const absent = accounting
      .map(({ name }) => name)
      .filter((name) => !listed.has(name) && (connection === undefined || name === connection));
    return absent.length === 0
      ? undefined
      : `Configured, and without bill payments in the ledger: connection ${absent.join(", ")}.`;
  },
  notesOf: (connection) => [
    ...syncedNotes(connection, "bill payment", "bill-payments"),
    ...withoutAmountNote(connection),
  ],
  asOf,
  nameOf: ({ connection }) => `connection ${connection}`,
  csv: () => ({
    head: COLUMNS.map(([name]) => name),
    cells: (payment) => COLUMNS.map(([, value]) => value(payment)),
  }),
  json: {
    owners: "connections",
    rows: "billPayments",
    figuresOf: ({ pages: _pages, businessId: _none, ...figures }) => figures,
    rowOf: (payment) => payment,
    amounts: new Set(["totalAmount"]),
  },
  table: {
    titleOf: (connection, { days }) =>
      `Bill payments of ${titleOf(days)} (accounting connection ${connection.connection}), ${asOf(connection)}`,
    head: ["DATE", "CODE", "BILL", "SUPPLIER", "METHOD", "CURRENCY", "AMOUNT", "SYNC STATUS", "LOOK AT"],
    right: [6],
    cells: (payment) => [
      payment.date,
      payment.billPaymentCode ?? "-",
      payment.billCode ?? "-",
      short(payment.supplierName ?? "-"),
      short(payment.paymentMethodName ?? "-"),
      `${payment.currency ?? "-"}${payment.currencyRate === null ? "" : ` at ${plain(payment.currencyRate)}`}`,
      payment.totalAmount === null ? "-" : money(payment.totalAmount),
      payment.syncStatus ?? "-",
      looksOf(payment).join(", "),
    ],
    sums: ({ sums }) =>
      sumsTable(
        ["CURRENCY", "SYNC STATUS", "COUNT", "AMOUNT"],
        sums.map((of) => [
          of.currency ?? "-",
          sumsName(of.syncStatus ?? "-", of),
          String(of.count),
          money(of.totalAmount),
        ]),
        [2, 3],
      ),
    noRows: "No bill payments.",
    noOwner: "The ledger has no bill payments of that connection. To read them: fiscalflow bill-payments sync --wait",
  },
};

/** @throws UsageError where neither the ledger nor the configuration has the connection */
async function refuseUnknown(
  { events }: Pick<Ledger, "events">,
  { accounting }: Pick<Config, "accounting">,
  { connection }: Scope,
): Promise<void> {
  const known = accounting.map(({ name }) => name);
  if (connection === undefined || known.includes(connection)) return;
  if (await events.any({ connection: accountingChain(connection).connection })) return;
  const hint = known.length === 0 ? "" : ` Configured here: ${known.join(", ")}.`;
  throw new UsageError(`Neither the ledger nor the configuration has an accounting connection "${connection}".${hint}`);
}

function withoutAmountNote({ sums }: BillPaymentsOfPeriod): string[] {
  const count = sums.reduce((sum, { withoutAmount }) => sum + withoutAmount, 0);
  if (count === 0) return [];
  return [
    `${counted(count, "listed bill payment")} ${count === 1 ? "states" : "state"} no amount; no sum contains ${count === 1 ? "it" : "them"}.`,
  ];
}
