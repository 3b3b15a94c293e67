import type { SaleDocument } from "../contract/documents.ts";
import { apart, centred, COLUMNS, wrapped } from "./columns.ts";
import { NOT_A_RECEIPT, pageOf, PROVISIONAL, type ReceiptOptions, type ReceiptPage } from "./page.ts";

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
