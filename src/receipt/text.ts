import { eastAsianWidth } from "get-east-asian-width";

import type { SaleDocument } from "../contract/documents.ts";
import { NOT_A_RECEIPT, pageOf, PROVISIONAL, type ReceiptOptions, type ReceiptPage } from "./page.ts";

/** Font A of a printer for paper of 80 mm. */
export const COLUMNS = 42;

const CLUSTERS = new Intl.Segmenter("en", { granularity: "grapheme" });

/** A narrow sign that is drawn as an emoji takes two columns, of which the sign itself is one. */
const AS_EMOJI = "\uFE0F";

/**
 * The columns that a text takes on a terminal or a printer: Chinese and emoji take two each, marks above and below
 * letters none. Where terminals differ, as many as any of them takes.
 */
export function widthOf(text: string): number {
  const columns = Array.from(text, (one) => {
    if (one === AS_EMOJI) return 1;
    return /[\p{Mn}\p{Me}\p{Default_Ignorable_Code_Point}]/u.test(one) ? 0 : eastAsianWidth(one.codePointAt(0) ?? 0);
  });
  return columns.reduce((sum: number, of) => sum + of, 0);
}

/** Lines that are as wide at most; a word that is wider is cut between two characters. */
function wrapped(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = "";
  // Counted on: to measure each line again for each character takes seconds for a name of 20,000.
  let width = 0;
  const add = (piece: string, separator: string): void => {
    const added = widthOf(piece);
    const between = line === "" ? "" : separator;
    if (width + between.length + added <= columns) {
      line = `${line}${between}${piece}`;
      width += between.length + added;
      return;
    }
    if (line !== "") lines.push(line);
    line = piece;
    width = added;
  };
  for (const word of text.split(" ")) {
    if (widthOf(word) <= columns) {
      add(word, " ");
      continue;
    }
    for (const [index, piece] of piecesOf(word, columns).entries()) add(piece, index === 0 ? " " : "");
  }
  return [...lines, line];
}

/** Characters as a reader sees them; one that is wider than a line, such as many emoji that are joined, in its parts. */
function piecesOf(word: string, columns: number): string[] {
  return Array.from(CLUSTERS.segment(word), ({ segment }) => segment).flatMap((segment) =>
    widthOf(segment) <= columns ? [segment] : Array.from(segment),
  );
}

/** Both on one line, at its two ends; where they do not fit, the second one follows below, at the right. */
function apart(left: string, right: string): string[] {
  const space = COLUMNS - widthOf(left) - widthOf(right);
  if (space > 0) return [`${left}${" ".repeat(space)}${right}`];
  const below = wrapped(right, COLUMNS - 2).map((line) => `${" ".repeat(COLUMNS - widthOf(line))}${line}`);
  return [...wrapped(left, COLUMNS), ...below];
}

function centred(text: string): string[] {
  return wrapped(text, COLUMNS).map((line) => `${" ".repeat(Math.floor((COLUMNS - widthOf(line)) / 2))}${line}`);
}

/** A line of the printed text. `warning` says that this is not a receipt. */
export interface Row {
  text: string;
  style?: "strong" | "warning";
}

/**
 * The receipt as text for paper of 80 mm: no line takes more than 42 columns, and Chinese characters and emoji count as
 * two. The verification address is printed in full; {@link receiptEscPos} has it as a QR code too.
 * @param document a sale or a credit note; what the tax authority has not signed is printed as provisional
 */
export function receiptText(document: SaleDocument, options: ReceiptOptions = {}): string {
  const rows = textRows(pageOf(document, options), (text) => text);
  return rows.map(({ text }) => `${text}\n`).join("");
}

/** @param toPrint applied to each text before it is laid out, for printers that do not have every character */
export function textRows(page: ReceiptPage, toPrint: (text: string) => string): Row[] {
  const { seller, title, provisional, facts, lines, withoutLines, rates, totals, signed, verificationUrl } = page;
  const plain = (texts: readonly string[]): Row[] => texts.map((text) => ({ text }));
  const strong = (texts: readonly string[]): Row[] => texts.map((text) => ({ text, style: "strong" }));
  const pairs = (pairsOf: readonly (readonly [string, string])[]): string[] =>
    pairsOf.flatMap(([label, value]) => apart(toPrint(label), toPrint(value)));
  const block = (rows: Row[]): Row[] => (rows.length > 0 ? [{ text: "-".repeat(COLUMNS) }, ...rows] : []);
  const warning: Row[] =
    provisional === undefined
      ? []
      : [
          ...[PROVISIONAL, NOT_A_RECEIPT].map((text): Row => ({ text: framed(text), style: "warning" })),
          ...plain(centred(toPrint(provisional))),
        ];
  const total = totals.slice(-1);
  return [
    ...warning,
    ...strong(seller.slice(0, 1).flatMap((text) => centred(toPrint(text)))),
    ...plain(seller.slice(1).flatMap((text) => centred(toPrint(text)))),
    ...strong(centred(title.toUpperCase())),
    ...plain(pairs(facts)),
    ...block([
      ...plain(lines.flatMap((line) => lineRows(line, toPrint))),
      ...plain(withoutLines === undefined ? [] : wrapped(withoutLines, COLUMNS)),
    ]),
    ...block(
      plain(
        pairs(
          rates.flatMap(({ label, taxable, tax }): [string, string][] => [
            [`${label}, taxable`, taxable],
            [`${label}, tax`, tax],
          ]),
        ),
      ),
    ),
    ...block([
      ...plain(pairs(totals.slice(0, -1))),
      ...strong(pairs(total.map(([label, sum]) => [label.toUpperCase(), sum]))),
    ]),
    ...block(plain(pairs(signed))),
    ...block(plain(verificationUrl === undefined ? [] : ["Verify at:", ...wrapped(toPrint(verificationUrl), COLUMNS)])),
    ...block(page.statedByShop === undefined ? [] : plain(wrapped(page.statedByShop, COLUMNS))),
    ...warning.slice(0, 2),
  ];
}

function lineRows(
  { name, quantity, unitPrice, total, tax }: ReceiptPage["lines"][number],
  toPrint: (text: string) => string,
): string[] {
  return [...wrapped(toPrint(name), COLUMNS), ...apart(`  ${quantity} x ${unitPrice}`, toPrint(`${total} ${tax}`))];
}

function framed(text: string): string {
  const stars = "*".repeat(Math.floor((COLUMNS - text.length - 2) / 2));
  return `${stars} ${text} ${stars}`;
}
