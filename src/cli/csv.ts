import { plainLine } from "../contract/plain-text.ts";

/** A line of RFC 4180, without its end. Each cell stays on this line, and none becomes a formula of a spreadsheet. */
export function csvLine(values: readonly string[]): string {
  return values.map(cell).join(",");
}

/** Without it, Excel takes a CSV for text in the letters of Windows; some programs take it for a part of the first name. */
export const BYTE_ORDER_MARK = "\uFEFF";

export const BOM_FLAG = [
  "--bom",
  "begin the CSV with a byte order mark, so that Excel reads its letters right",
] as const;

/** A figure of ours, or the dash of a cell that has none. */
const FIGURE = /^-?[\d.]*$/;
/**
 * What begins a formula, also behind spaces, which spreadsheets leave out, and behind the semicolon, which separates
 * cells where a comma separates decimals. Excel takes the full width forms of East Asia for the same.
 */
const FORMULA = /(^|;)(\s*)(?=[=+\-@\uFF1D\uFF0B\uFF0D\uFF20\uFE62\uFE63\uFE66\uFE6B\u2212])/g;

function cell(value: string): string {
  const words = plainLine(value);
  const text = FIGURE.test(words) ? words : words.replaceAll(FORMULA, "$1$2'");
  return /[",;]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
