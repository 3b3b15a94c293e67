import type { BusinessReport } from "../../ledger/index.ts";

const NONE = { total: "0", taxableAmount: "0", taxAmount: "0" };
const NO_AMOUNTS = { count: 0, ...NONE };
const NO_OTHERS = { ...NO_AMOUNTS, others: [] };
const NOT_ODD = { sales: NO_OTHERS, creditNotes: NO_OTHERS };
export const NOW_MS = Date.UTC(2026, 10, 21, 12);

/** A month of a shop, with words of other people that a page or a spreadsheet might obey. */
export function sampleReport(): BusinessReport {
  const sales = { total: "1234567.80", taxableAmount: "1064282.59", taxAmount: "170285.21" };
  const creditNotes = { total: "-1200.50", taxableAmount: "-1034.91", taxAmount: "-165.59" };
  const net = { total: "1233367.30", taxableAmount: "1063247.68", taxAmount: "170119.62" };
  const oneSale = { total: "1160.5", taxableAmount: "1000.43", taxAmount: "160.07" };
  return {
    connection: "default",
    businessId: "biz_<b>1</b>",
    sales: { count: 4000, ...sales },
    creditNotes: { count: 3, ...creditNotes },
    net: { count: 4003, ...net },
    taxes: [
      { taxRate: "16", taxTypeCode: "B", sales, creditNotes, net },
      { taxRate: "8.00", taxTypeCode: "E", sales: NONE, creditNotes: NONE, net: { ...NONE, taxAmount: "812.5" } },
      { taxRate: "0", taxTypeCode: "A", sales: NONE, creditNotes: NONE, net: NONE },
    ],
    buyers: {
      withPin: {
        sales: { count: 1, ...oneSale },
        creditNotes: NO_AMOUNTS,
        net: { count: 1, ...oneSale },
        taxes: [{ taxRate: "16.0", taxTypeCode: "B", sales: oneSale, creditNotes: NONE, net: oneSale }],
      },
      withoutPin: {
        sales: { count: 3999, total: "1233407.30", taxableAmount: "1063282.16", taxAmount: "170125.14" },
        creditNotes: { count: 3, ...creditNotes },
        net: { count: 4002, total: "1232206.80", taxableAmount: "1062247.25", taxAmount: "169959.55" },
        taxes: [
          { taxRate: "16", taxTypeCode: "B", sales, creditNotes, net },
          { taxRate: "0", taxTypeCode: "A", sales: NONE, creditNotes: NONE, net: NONE },
        ],
      },
      malformedPin: { sales: { count: 1, ...oneSale }, creditNotes: NO_AMOUNTS, net: { count: 1, ...oneSale } },
    },
    oddDates: {
      inFuture: NOT_ODD,
      datedBeforeSale: NOT_ODD,
      signedInAnotherMonth: {
        sales: { count: 1, total: "812.5", taxableAmount: "700.43", taxAmount: "112.07", others: ["2026-12"] },
        creditNotes: { count: 1, total: "-812.5", taxableAmount: "-700.43", taxAmount: "-112.07", others: ["2027-01"] },
      },
      datedInAnotherMonth: NOT_ODD,
      signedOnAnotherDay: NOT_ODD,
      datedOnAnotherDay: NOT_ODD,
    },
    payments: [
      {
        paymentTypeCode: null,
        count: 4003,
        total: net.total,
        sales: { count: 4000, total: sales.total },
        creditNotes: { count: 3, total: creditNotes.total },
      },
    ],
    course: Array.from({ length: 21 }, (_, day) => ({
      at: `2026-11-${String(day + 1).padStart(2, "0")}`,
      sales: String(30_000 + ((day * 7919) % 45_000)),
      creditNotes: day % 7 === 3 ? "-4200.5" : "0",
    })),
    notInCourse: { sales: { count: 0, total: "0" }, creditNotes: { count: 0, total: "0" } },
    movements: [
      {
        itemId: "item_tea",
        name: '=HYPERLINK("http://x")',
        taken: "12.50",
        givenBack: "1",
        returnedByDecision: "3",
        unknown: 1,
        notMade: 0,
        againstBalance: 1,
        disputed: 2,
      },
    ],
    open: [
      {
        type: "sale",
        number: "INV-<script>",
        stage: "rejected",
        documentId: null,
        attentions: [{ code: "rejected", message: "no", sinceMs: NOW_MS - 200_000_000 }],
        startedAtMs: NOW_MS - 300_000_000,
        sinceMs: NOW_MS - 200_000_000,
        atRisk: "700.2",
      },
      {
        type: "credit_note",
        number: "CN-1",
        stage: "awaiting-authority",
        documentId: "sale_9",
        attentions: [],
        startedAtMs: NOW_MS - 600_000,
        sinceMs: NOW_MS - 600_000,
        atRisk: "1200.5",
      },
    ],
    moreOpen: 0,
    openByCode: [
      { code: null, count: 1, atRisk: "1200.5" },
      { code: "rejected", count: 1, atRisk: "700.2" },
    ],
    atRisk: "1900.7",
    ended: {
      documents: [
        {
          type: "sale",
          number: "INV-9",
          stage: "awaiting-authority",
          documentId: "sale_8",
          attentions: [],
          startedAtMs: NOW_MS - 7_200_000,
          sinceMs: NOW_MS - 7_200_000,
          status: "terminated",
          endedAtMs: NOW_MS - 3_600_000,
          atRisk: "232",
        },
      ],
      more: 0,
      amount: "232",
    },
  };
}
