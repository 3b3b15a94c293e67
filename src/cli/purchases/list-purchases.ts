import type { ListedPurchase, PurchasesOfPeriod } from "../../ledger/index.ts";
import type { PeriodList } from "../lists/list.ts";
import { short, sumsTable } from "../lists/render.ts";
import { asOf, LOOK_COLUMNS, looksOf, sumsName, syncedNotes } from "../lists/synced.ts";
import { counted } from "../output.ts";
import { configuredNote, nameOf } from "../report/configured-note.ts";
import { amount, money } from "../report/money.ts";
import { refuseUnknown } from "../report/refuse-unknown.ts";
import { headOf, titleOf } from "../report/render-text.ts";
import { withSeller } from "../report/seller-of.ts";

/** Of the CSV, before two for each rate. What the API does not show of a purchase is no column. */
const COLUMNS: readonly [name: string, value: (purchase: ListedPurchase) => string][] = [
  ["connection", ({ connection }) => connection],
  ["business", ({ businessId }) => businessId],
  ["invoice_number", ({ supplierInvoiceNumber }) => supplierInvoiceNumber],
  ["date", ({ invoiceDate }) => invoiceDate],
  ["supplier_name", ({ supplierName }) => supplierName ?? ""],
  ["supplier_pin", ({ supplierPin }) => supplierPin ?? ""],
  ["branch", ({ branch }) => branch ?? ""],
  ["status", ({ status }) => status],
  ["subtotal", ({ subtotal }) => amount(subtotal)],
  ["vat", ({ vat }) => amount(vat)],
  ["total", ({ total }) => amount(total)],
  ["confirmation_error", ({ confirmationError }) => confirmationError ?? ""],
  ["purchase_id", ({ purchaseId }) => purchaseId],
  ["more_than_once", ({ moreThanOnce }) => (moreThanOnce ? "yes" : "no")],
  ...LOOK_COLUMNS,
];

export const listOfPurchases: PeriodList<PurchasesOfPeriod, ListedPurchase> = {
  read: (ledger, request, write) => ledger.purchases.list(request, write),
  refuseUnknown,
  absentNote: (config, flags, businesses) => configuredNote(config, flags, businesses, "purchases"),
  notesOf: (business) => [...syncedNotes(business, "purchase", "purchases"), ...moreThanOnceNote(business)],
  asOf,
  nameOf,
  csv: (businesses) => {
    const all = businesses.flatMap(({ taxRates }) => taxRates);
    const rates = [...new Set(all.toSorted((one, other) => Number(other) - Number(one)))];
    return {
      head: [...COLUMNS.map(([name]) => name), ...rates.flatMap((rate) => [`line_total_${rate}`, `vat_${rate}`])],
      cells: (purchase) => [...COLUMNS.map(([, value]) => value(purchase)), ...byRate(purchase, rates)],
    };
  },
  json: {
    owners: "businesses",
    rows: "purchases",
    figuresOf: ({ pages: _pages, ...figures }, { sellerOf }) => withSeller(figures, sellerOf),
    rowOf: (purchase) => purchase,
    amounts: new Set(["subtotal", "vat", "total", "lineTotal"]),
  },
  table: {
    titleOf: (business, { days, sellerOf }) =>
      `${headOf(business, sellerOf)}, purchases of ${titleOf(days)}, ${asOf(business)}`,
    head: ["DATE", "NUMBER", "SUPPLIER", "PIN", "SUBTOTAL", "VAT", "TOTAL", "STATUS", "VAT BY RATE", "LOOK AT"],
    right: [4, 5, 6],
    cells: (purchase) => [
      purchase.invoiceDate,
      purchase.supplierInvoiceNumber,
      short(purchase.supplierName ?? "-"),
      purchase.supplierPin ?? "-",
      money(purchase.subtotal),
      money(purchase.vat),
      money(purchase.total),
      purchase.status,
      purchase.rates.map(({ taxRate, vat }) => `${taxRate} %: ${money(vat)}`).join(", ") || "-",
      [
        ...looksOf(purchase),
        ...(purchase.moreThanOnce ? ["more than once"] : []),
        ...(purchase.confirmationError === null ? [] : [`confirmation error: ${purchase.confirmationError}`]),
      ].join(", "),
    ],
    sums: (business) => [statusTable(business), ...rateTable(business)].join("\n"),
    noRows: "No purchases.",
    noOwner:
      "The ledger has no purchases of that connection and business. To read them: fiscalflow purchases sync --wait",
  },
};

function statusTable({ sums }: PurchasesOfPeriod): string {
  const rows = sums.map((of) => [
    sumsName(of.status, of),
    String(of.count),
    money(of.subtotal),
    money(of.vat),
    money(of.total),
  ]);
  return sumsTable(["STATUS", "COUNT", "SUBTOTAL", "VAT", "TOTAL"], rows, [1, 2, 3, 4]);
}

/** Nothing where no lines are known. */
function rateTable({ rateSums }: PurchasesOfPeriod): string[] {
  const rows = rateSums.map((of) => [
    sumsName(of.status, of),
    `${of.taxRate} %`,
    String(of.count),
    money(of.vat),
    money(of.lineTotal),
  ]);
  return rows.length === 0 ? [] : [sumsTable(["STATUS", "RATE", "COUNT", "VAT", "TOTAL OF LINES"], rows, [1, 2, 3, 4])];
}

/** Of each rate, in this order: the sum of the lines' totals, and of their tax; empty where no lines are known. */
function byRate({ rates: known }: ListedPurchase, rates: readonly string[]): string[] {
  return rates.flatMap((rate) => {
    const of = known.find(({ taxRate }) => taxRate === rate);
    if (of) return [amount(of.lineTotal), amount(of.vat)];
    return known.length > 0 ? ["0.00", "0.00"] : ["", ""];
  });
}

function moreThanOnceNote({ moreThanOnce }: PurchasesOfPeriod): string[] {
  if (moreThanOnce === 0) return [];
  return [
    `${counted(moreThanOnce, "listed purchase")} ${moreThanOnce === 1 ? "has" : "have"} the supplier's PIN and the number of another one: see in the API's dashboard which of them counts.`,
  ];
}
