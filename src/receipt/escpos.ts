import type { SaleDocument } from "../contract/documents.ts";
import { inLatin, latinBytes } from "./latin.ts";
import { pageOf, type ReceiptOptions } from "./page.ts";
import { qrBytes, qrOf } from "./qr.ts";
import { COLUMNS, type Row, textRows } from "./text.ts";

const ESC = 0x1b;
const FS = 0x1c;
const GS = 0x1d;
const LINE_FEED = 0x0a;

/**
 * Initialise, leave Chinese mode, in which some printers begin and read two letters of Windows-1252 as one character,
 * and take code page 16, which is Windows-1252.
 */
const START = [ESC, 0x40, FS, 0x2e, ESC, 0x74, 16];
/** Feed to the cutter, and cut. */
const CUT = [GS, 0x56, 66, 0];
const IN_THE_MIDDLE = [ESC, 0x61, 1];
const AT_THE_LEFT = [ESC, 0x61, 0];
/** Emphasis on and off; white on black on and off. */
const STYLES = {
  strong: [
    [ESC, 0x45, 1],
    [ESC, 0x45, 0],
  ],
  warning: [
    [GS, 0x42, 1],
    [GS, 0x42, 0],
  ],
} as const;

/**
 * The receipt as the bytes that a receipt printer of 80 mm takes (ESC/POS, Epson's command reference): the 42-column
 * text, the QR code drawn by the printer, and a cut. Letters outside of Windows-1252 lose their marks; other characters
 * print as `?`.
 * @param document a sale or a credit note; what the tax authority has not signed is printed as provisional
 */
export function receiptEscPos(document: SaleDocument, options: ReceiptOptions = {}): Uint8Array {
  const page = pageOf(document, options);
  const rows = textRows(page, inLatin).flatMap(printed);
  return Uint8Array.from([...START, ...rows, ...qrCode(page.verificationUrl ?? ""), ...CUT]);
}

function printed({ text, style }: Row): number[] {
  const line = [...latinBytes(text), LINE_FEED];
  if (!style) return line;
  const [on, off] = STYLES[style];
  return [...on, ...line, ...off];
}

/** A character of font A is this wide. */
const DOTS_A_COLUMN = 12;
/** Three quarters of a millimetre: easily read by a telephone. */
const MOST_DOTS = 6;

/** GS ( k: model 2, the size of a module, error correction M, the data, print. What is wider than the paper is not. */
function qrCode(text: string): number[] {
  const data = qrBytes(text);
  const code = qrOf(text);
  if (text === "" || !data || !code) return [];
  const dots = Math.min(MOST_DOTS, Math.floor((COLUMNS * DOTS_A_COLUMN) / code.size));
  const commands = [
    [0x41, 0x32, 0],
    [0x43, dots],
    [0x45, 0x31],
    [0x50, 0x30, ...data],
    [0x51, 0x30],
  ].map((body) => {
    const length = body.length + 1;
    return [GS, 0x28, 0x6b, length & 0xff, length >> 8, 0x31, ...body];
  });
  return [...IN_THE_MIDDLE, ...commands.flat(), ...AT_THE_LEFT, LINE_FEED];
}
