import type { BusinessDocuments, ListedDocument } from "../../ledger/index.ts";
import { plainTable } from "../plain-table.ts";
import { money, plain } from "../report/money.ts";
import { headOf } from "../report/render-text.ts";
import { countedAmounts } from "./counted.ts";
import { notesOfBusiness } from "./notes.ts";
import type { ListHead } from "./list-head.ts";

const HEAD = ["DATE", "SIGNED", "NUMBER", "CU NUMBER", "BUYER", "PIN", "TAXABLE", "TAX", "TOTAL", "STATUS"].concat([
  "TAXABLE AND TAX BY RATE",
  "REVERSES",
  "LOOK AT",
]);
/** Columns that are aligned to the right. */
const AMOUNTS = [6, 7, 8];
const SUMS = [1, 2, 3, 4];
const MOST_NAME = 28;

/** A table for each business, its sums, and what they leave out. */
export async function* renderTable(
  { days, standing, sellerOf }: ListHead,
  businesses: readonly BusinessDocuments[],
): AsyncGenerator<string> {
  if (businesses.length === 0) yield "The ledger has no documents of that connection and business.\n";
  for (const [index, business] of businesses.entries()) {
    const period = days.from === days.to ? days.from : `${days.from} to ${days.to}`;
    yield `${index === 0 ? "" : "\n\n"}${headOf(business, sellerOf)}, ${period}, amounts in KES\n\n`;
    if (standing !== undefined) yield `${standing}\n\n`;
    let widths: number[] | undefined;
    for await (const page of business.pages()) {
      const rows = page.map(cells);
      // The first page decides: what is longer later on stands out of line, and is whole.
      if (!widths) {
        widths = widthsOf([HEAD, ...rows]);
        yield line(HEAD, widths);
      }
      for (const row of rows) yield line(row, widths);
    }
    if (!widths) yield "No documents.\n";
    yield `\n${sums(business)}`;
    for (const note of notesOfBusiness(business)) yield `\nNote: ${note}\n`;
  }
}

function cells(document: ListedDocument): string[] {
  const { type, number, signedOn, reverses, inFuture } = document;
  const { total, taxableAmount, taxAmount, taxes } = countedAmounts(document);
  const figure = (value: string | null): string => (value === null ? "-" : money(value));
  const look = [
    inFuture && "dated in the future",
    signedWhen(document),
    document.customerPinMalformed === true && "malformed PIN",
  ];
  return [
    document.date,
    signedOn ?? "-",
    type === "sale" ? number : `${number} (credit note)`,
    document.cuInvoiceNo ?? "-",
    short(document.customerName ?? "-"),
    document.customerPin ?? "-",
    figure(taxableAmount),
    figure(taxAmount),
    figure(total),
    statusText(document),
    taxes.map(taxText).join(", ") || "-",
    reverses ? (reverses.number ?? reverses.cuInvoiceNo ?? reverses.documentId ?? "not known") : "-",
    look.filter((word) => word !== false && word !== undefined).join(", "),
  ];
}

function statusText(document: ListedDocument): string {
  const { notSignedTotal, givenUpTotal } = countedAmounts(document);
  const left = notSignedTotal ?? givenUpTotal;
  const words = `${document.status ?? "-"}${document.givenUp ? ", given up" : ""}`;
  return left === null ? words : `${words} (${money(left)} not counted)`;
}

/** Where that is not what the list's days let expect. */
function signedWhen({ signedInAnotherMonth, signedOutsidePeriod, signedOn }: ListedDocument): string | undefined {
  if (signedInAnotherMonth) return `signed in ${signedOn?.slice(0, 7)}`;
  return signedOutsidePeriod ? `signed on ${signedOn}` : undefined;
}

function taxText({ taxRate, taxTypeCode, taxableAmount, taxAmount }: ListedDocument["taxes"][number]): string {
  return `${taxTypeCode ?? "-"} ${plain(taxRate)} %: ${money(taxableAmount)} and ${money(taxAmount)}`;
}

function short(name: string): string {
  const characters = Array.from(name);
  return characters.length > MOST_NAME ? `${characters.slice(0, MOST_NAME - 1).join("")}…` : name;
}

function sums({ sales, creditNotes, net, taxes }: BusinessDocuments): string {
  const of = (name: string, count: string, amounts: Omit<typeof net, "count">): string[] => [
    name,
    count,
    money(amounts.taxableAmount),
    money(amounts.taxAmount),
    money(amounts.total),
  ];
  const rows = [
    of("sales", String(sales.count), sales),
    of("credit notes", String(creditNotes.count), creditNotes),
    of("net", String(net.count), net),
    ...taxes.map((rate) => of(`net at ${rate.taxTypeCode ?? "-"} ${plain(rate.taxRate)} %`, "", rate.net)),
  ];
  const lines = plainTable(["SIGNED", "COUNT", "TAXABLE", "TAX", "TOTAL"], rows, SUMS).split("\n");
  return lines.map((one) => `${one.trimEnd()}\n`).join("");
}

function widthsOf(rows: readonly (readonly string[])[]): number[] {
  const columns = rows[0]?.length ?? 0;
  return Array.from({ length: columns }, (_, column) => Math.max(...rows.map((row) => lengthOf(row[column]))));
}

/** A table that is printed page by page cannot be laid out as a whole. */
function line(values: readonly string[], widths: readonly number[]): string {
  const padded = values.map((value, column) => {
    const gap = " ".repeat(Math.max(0, (widths[column] ?? 0) - lengthOf(value)));
    return AMOUNTS.includes(column) ? `${gap}${value}` : `${value}${gap}`;
  });
  return `${padded.join("  ").trimEnd()}\n`;
}

function lengthOf(text = ""): number {
  return Array.from(text).length;
}
