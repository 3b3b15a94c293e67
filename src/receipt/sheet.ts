import { once } from "node:events";

import type { QrCode } from "./qr.ts";

const MARGIN = 50;
const SIZE = 9;
const ROW_GAP = 3;
const FOOTER = 20;
/** Of one cell: more than any address that a QR code can hold. The library takes a minute to wrap a word of 20,000. */
const MOST_CHARACTERS = 2_400;
const GREY = "#555555";
const FAINT = "#E4E4E4";

export interface TextStyle {
  size?: number;
  bold?: boolean;
  grey?: boolean;
  align?: "left" | "right" | "center";
}

export interface Cell extends TextStyle {
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
export type Sheet = Awaited<ReturnType<typeof sheetOf>>;

export async function sheetOf({ title, createdAt, font, toPrint: inFont, watermark }: SheetOptions) {
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
