import type { Amounts, BusinessReport, OddDates } from "../../ledger/index.ts";
import { asText, csvLine } from "../csv.ts";

const HEAD = ["connection", "business", "section", "name", "detail", "count", "total", "taxable", "tax"];

/** One line for each figure, amounts as they are kept. RFC 4180, with a line for the names. */
export function renderCsv(businesses: readonly BusinessReport[]): string {
  const lines = businesses.flatMap((report) => {
    const { connection, businessId } = report;
    return linesOf(report).map((line) => [asText(connection), asText(businessId), ...line]);
  });
  return [HEAD, ...lines].map(csvLine).join("\r\n");
}

function linesOf(report: BusinessReport): string[][] {
  return [
    amountLine("sales", "", "", report.sales),
    amountLine("credit notes", "", "", report.creditNotes),
    amountLine("net", "", "", report.net),
    ...report.taxes.flatMap(({ taxRate, taxTypeCode, sales, creditNotes, net }) => {
      const name = [asText(taxTypeCode ?? ""), taxRate] as const;
      return [
        amountLine("tax of sales", ...name, sales),
        amountLine("tax of credit notes", ...name, creditNotes),
        amountLine("tax net", ...name, net),
      ];
    }),
    ...oddDateLines(report.oddDates),
    ...report.payments.map(({ paymentTypeCode, count, total }) => [
      "payment type",
      asText(paymentTypeCode ?? ""),
      "",
      String(count),
      total,
      "",
      "",
    ]),
    ...report.course.flatMap(({ at, sales, creditNotes }) => [
      ["course of sales", at, "", "", sales, "", ""],
      ["course of credit notes", at, "", "", creditNotes, "", ""],
    ]),
    ...report.movements.flatMap(({ itemId, name, taken, givenBack, returnedByDecision, unknown, notMade }) => {
      const of = [asText(itemId), asText(name ?? "")];
      return [
        ["stock taken", ...of, "", taken, "", ""],
        ["stock given back", ...of, "", givenBack, "", ""],
        ["stock returned by decision", ...of, "", returnedByDecision, "", ""],
        ["stock unknown", ...of, String(unknown), "", "", ""],
        ["stock not made", ...of, String(notMade), "", "", ""],
      ];
    }),
    ...report.open.map(({ type, number, stage, attentions, sinceMs, atRisk }) => [
      type === "sale" ? "open sale" : "open credit note",
      asText(number),
      [stage, ...attentions.map(({ code }) => code), `since ${new Date(sinceMs).toISOString()}`].join(" "),
      "",
      atRisk,
      "",
      "",
    ]),
    ...report.ended.documents.map(({ type, number, stage, status, endedAtMs, amount }) => [
      type === "sale" ? "ended sale" : "ended credit note",
      asText(number),
      `${stage}, ${status} ${new Date(endedAtMs).toISOString()}`,
      "",
      amount,
      "",
      "",
    ]),
    ["at risk", "", "", String(report.open.length + report.moreOpen), report.atRisk, "", ""],
  ];
}

function oddDateLines({ inFuture, signedInAnotherMonth: late, datedInAnotherMonth: elsewhere }: OddDates): string[][] {
  return [
    amountLine("dated in the future", "", "", inFuture),
    amountLine("signed in another month", late.months.join(" "), "", late),
    amountLine("dated in another month, not counted", elsewhere.months.join(" "), "", elsewhere),
  ];
}

function amountLine(
  section: string,
  name: string,
  detail: string,
  amounts: Omit<Amounts, "count"> & { count?: number },
): string[] {
  const { count, total, taxableAmount, taxAmount } = amounts;
  return [section, name, detail, count === undefined ? "" : String(count), total, taxableAmount, taxAmount];
}
