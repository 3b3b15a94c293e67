import { once } from "node:events";

import type { SaleDocument } from "../contract/documents.ts";
import { isCalendarDate } from "../contract/nairobi-date.ts";
import { plainLine } from "../contract/plain-text.ts";
import { inLatin } from "./latin.ts";
import { type Fact, NOT_A_RECEIPT, pageOf, PROVISIONAL, type ReceiptOptions } from "./page.ts";
import { type QrCode, qrOf } from "./qr.ts";

const MARGIN = 50;
const SIZE = 9;
const ROW_GAP = 3;
const FOOTER = 20;
/** Of one cell: more than any address that a QR code can hold. The library takes a minute to wrap a word of 20,000. */
const MOST_CHARACTERS = 2_400;
const GREY = "#555555";
const FAINT = "#E4E4E4";

interface TextStyle {
  size?: number;
  bold?: boolean;
  grey?: boolean;
  align?: "left" | "right" | "center";
}

interface Cell extends TextStyle {
  text: string;
  /** Points. */
  width: number;
}

interface SheetOptions {
  /** Of the file, for the reader's window. */
  title: string;
  /** Of the file, which is the same whenever it is made. */
  createdAt: Date;
  font: Uint8Array | undefined;
  /** Applied to each text: the built-in fonts do not have every character. */
  toPrint: (text: string) => string;
  /** Across each page. */
  watermark: string | undefined;
}

/** A PDF of A4 pages, written from the top down; what does not fit goes on the next page. All measures in points. */
type Sheet = Awaited<ReturnType<typeof sheetOf>>;

async function sheetOf({ title, createdAt, font, toPrint: inFont, watermark }: SheetOptions) {
  const toPrint = (text: string): string => {
    const printed = inFont(text);
    return printed.length > MOST_CHARACTERS ? `${printed.slice(0, MOST_CHARACTERS)}…` : printed;
  };
  // Only a PDF needs it, and it is the largest part of what the package brings.
  const { default: PdfDocument } = await import("pdfkit");
  const pdf = new PdfDocument({
    size: "A4",
    margin: MARGIN,
    bufferPages: true,
    autoFirstPage: false,
    font: "Helvetica",
    info: { Title: toPrint(title), Producer: "fiscalflow", Creator: "fiscalflow", CreationDate: createdAt },
  });
  const chunks: Uint8Array[] = [];
  pdf.on("data", (chunk: Uint8Array) => chunks.push(chunk));
  const ended = once(pdf, "end");

  pdf.registerFont("regular", font ?? "Helvetica");
  pdf.registerFont("bold", font ?? "Helvetica-Bold");
  let y = 0;
  const bottom = (): number => pdf.page.height - MARGIN - FOOTER;
  const width = (): number => pdf.page.width - 2 * MARGIN;

  function addPage(): void {
    pdf.addPage();
    y = MARGIN;
    if (watermark === undefined) return;
    pdf.save();
    pdf.rotate(-45, { origin: [pdf.page.width / 2, pdf.page.height / 2] });
    pdf.font("bold", 80).fillColor(FAINT);
    pdf.text(watermark, -100, pdf.page.height / 2 - 40, {
      width: pdf.page.width + 200,
      align: "center",
      lineBreak: false,
    });
    pdf.restore();
  }
  function use({ size = SIZE, bold = false, grey = false }: TextStyle): void {
    pdf.font(bold ? "bold" : "regular", size).fillColor(grey ? GREY : "black");
  }
  /** What is taller than a page is cut. */
  function heightOf(cell: Cell): number {
    use(cell);
    return Math.min(pdf.heightOfString(toPrint(cell.text), { width: cell.width }), bottom() - MARGIN);
  }
  function keepTogether(height: number): void {
    if (y + height > bottom()) addPage();
  }
  function row(cells: readonly Cell[]): void {
    const height = Math.max(...cells.map(heightOf));
    keepTogether(height);
    let x = MARGIN;
    for (const cell of cells) {
      use(cell);
      const { width: cellWidth, align = "left" } = cell;
      pdf.text(toPrint(cell.text), x, y, { width: cellWidth, align, height, ellipsis: true });
      x += cell.width;
    }
    y += height + ROW_GAP;
  }
  function rule(): void {
    pdf
      .moveTo(MARGIN, y)
      .lineTo(MARGIN + width(), y)
      .lineWidth(0.5)
      .stroke("black");
    y += ROW_GAP;
  }
  addPage();

  return {
    row,
    rule,
    keepTogether,

    /** @param style with the space above */
    line(text: string, { gap = 0, ...style }: TextStyle & { gap?: number }): void {
      y += gap;
      row([{ text, width: width(), ...style }]);
    },

    /** Framed, in the middle; the first text is the largest. */
    notice(texts: readonly string[]): void {
      const top = y;
      y += 3 * ROW_GAP;
      for (const [index, text] of texts.entries())
        row([
          {
            text,
            width: width(),
            align: "center",
            ...(index === 0 ? { size: 18, bold: true } : { bold: index === 1 }),
          },
        ]);
      y += ROW_GAP;
      pdf
        .rect(MARGIN, top, width(), y - top)
        .lineWidth(2)
        .dash(6, { space: 4 })
        .stroke("black")
        .undash();
      y += 4 * ROW_GAP;
    },

    /** The first column is to the left, the others to the right; the head is repeated on each page. */
    table(head: readonly string[], rows: readonly (readonly string[])[], widths: readonly number[]): void {
      const cells = (texts: readonly string[], style: TextStyle): Cell[] =>
        texts.map((text, n) => ({ text, width: widths[n] ?? 0, align: n === 0 ? "left" : "right", ...style }));
      const printHead = (): void => {
        row(cells(head, { bold: true }));
        rule();
      };
      y += 10;
      keepTogether(4 * SIZE);
      printHead();
      for (const texts of rows) {
        const height = Math.max(...cells(texts, {}).map(heightOf));
        if (y + height > bottom()) {
          addPage();
          printHead();
        }
        row(cells(texts, {}));
      }
      y += 6;
    },

    /** At the right margin, from here on down. @returns where it ends */
    qrCode({ size, dark }: QrCode, side: number): number {
      const module = side / size;
      const left = MARGIN + width() - side;
      for (const { x, y: line, length } of dark)
        pdf.rect(left + x * module, y + line * module, length * module, module);
      pdf.fill("black");
      return y + side;
    },

    moveBelow(place: number): void {
      y = Math.max(y, place + ROW_GAP);
    },

    /** The pages, numbered. Nothing can be added afterwards. */
    async bytes(): Promise<Uint8Array> {
      const { count } = pdf.bufferedPageRange();
      for (let n = 0; n < count; n += 1) {
        pdf.switchToPage(n);
        use({ size: 8, grey: true });
        const text = toPrint(`${title} - page ${n + 1} of ${count}`);
        pdf.text(text, MARGIN, bottom() + 6, { width: width(), align: "center", height: 10, ellipsis: true });
      }
      pdf.end();
      await ended;
      return new Uint8Array(Buffer.concat(chunks));
    },
  };
}

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
