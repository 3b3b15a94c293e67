import { isCalendarDate } from "../contract/nairobi-date.ts";
import type { SaleDocument } from "../contract/documents.ts";
import { plainLine } from "../contract/plain-text.ts";
import { inLatin } from "./latin.ts";
import { type Fact, NOT_A_RECEIPT, pageOf, PROVISIONAL, type ReceiptOptions } from "./page.ts";
import { qrOf } from "./qr.ts";
import { type Cell, type Sheet, sheetOf } from "./sheet.ts";

export interface PdfOptions extends ReceiptOptions {
  /**
   * The bytes of a TrueType or OpenType font. Without it, the fonts built into every PDF reader are used, which have
   * the characters of Western Europe (Windows-1252) only: other letters lose their marks, other characters become `?`.
   */
  font?: Uint8Array;
}

/** Widths in points; together as wide as a page of A4 between its margins. */
const ITEM_WIDTHS = [225, 60, 80, 45, 85];
const RATE_WIDTHS = [180, 105, 105, 105];
const FACT_WIDTHS = [110, 385];
const SIGNED_WIDTHS = [110, 245];
const QR_SIDE = 125;

/**
 * The receipt as a PDF of A4 pages. The same document and options give the same bytes.
 * @param document a sale or a credit note; what the tax authority has not signed is marked as provisional on each page
 * @throws the PDF library's Error where `font` is not a font
 */
export async function receiptPdf(document: SaleDocument, { font, ...options }: PdfOptions = {}): Promise<Uint8Array> {
  const page = pageOf(document, options);
  const { seller, title, provisional, facts, lines, withoutLines, rates, totals, signed, verificationUrl } = page;
  const isProvisional = provisional !== undefined;
  const sheet = await sheetOf({
    title: plainLine(`${isProvisional ? `${PROVISIONAL}: ` : ""}${title} ${document.traderInvoiceNumber}`),
    createdAt: dateOf(document),
    font,
    toPrint: font ? (text) => text : inLatin,
    watermark: isProvisional ? PROVISIONAL : undefined,
  });
  if (isProvisional) sheet.notice([PROVISIONAL, NOT_A_RECEIPT, provisional]);
  for (const [index, text] of seller.entries()) sheet.line(text, index === 0 ? { size: 14, bold: true } : {});
  sheet.line(title, { size: 16, bold: true, gap: 6 });
  factRows(sheet, facts, FACT_WIDTHS);
  if (withoutLines !== undefined) sheet.line(withoutLines, { gap: 10 });
  else {
    sheet.table(
      ["Item", "Quantity", "Price", "Tax", "Total"],
      lines.map(({ name, quantity, unitPrice, tax, total }) => [name, quantity, unitPrice, tax, total]),
      ITEM_WIDTHS,
    );
    sheet.table(
      ["Tax", "Taxable", "Tax amount", "Total"],
      rates.map(({ label, taxable, tax, total }) => [label, taxable, tax, total]),
      RATE_WIDTHS,
    );
  }
  sheet.rule();
  for (const [index, [label, sum]] of totals.entries()) {
    const style = index === totals.length - 1 ? { bold: true, size: 12 } : {};
    sheet.row([
      { text: "", width: 285 },
      { text: label, width: 90, ...style },
      { text: sum, width: 120, align: "right", ...style },
    ]);
  }
  if (signed.length > 0) signedBlock(sheet, signed, verificationUrl);
  if (page.statedByShop !== undefined) sheet.line(page.statedByShop, { size: 8, grey: true, gap: 10 });
  return sheet.bytes();
}

/** As the file's date: when the document was signed, in Nairobi's time, else the day of the sale, else none (1970). */
function dateOf({ receipt, saleDate }: SaleDocument): Date {
  const [, day, month, year] = /^(\d\d)\/(\d\d)\/(\d{4})$/.exec(receipt?.scuDate ?? "") ?? [];
  const at = (date: string, time: string): Date =>
    new Date(isCalendarDate(date) ? `${date}T${time}+03:00` : Number.NaN);
  const dates = [at(`${year}-${month}-${day}`, receipt?.scuTime ?? ""), at(saleDate ?? "", "00:00:00")];
  return dates.find((date) => !Number.isNaN(date.getTime())) ?? new Date(0);
}

function factRows(sheet: Sheet, facts: readonly Fact[], [labelWidth = 0, valueWidth = 0]: readonly number[]): void {
  for (const [label, value] of facts) {
    const cells: Cell[] = [
      { text: label, width: labelWidth, grey: true },
      { text: value, width: valueWidth },
    ];
    sheet.row(cells);
  }
}

/** The values with the QR code beside them, on one page. */
function signedBlock(sheet: Sheet, signed: readonly Fact[], verificationUrl: string | undefined): void {
  const code = verificationUrl === undefined ? undefined : qrOf(verificationUrl);
  sheet.keepTogether(QR_SIDE + 90);
  sheet.line("Signed by the tax authority", { bold: true, gap: 10 });
  const bottom = code ? sheet.qrCode(code, QR_SIDE) : 0;
  factRows(sheet, signed, SIGNED_WIDTHS);
  sheet.moveBelow(bottom);
  if (verificationUrl !== undefined) sheet.line(`Verify at: ${verificationUrl}`, { size: 8 });
}
