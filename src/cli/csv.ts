/** A line of RFC 4180, without its end. */
export function csvLine(values: readonly string[]): string {
  return values.map(cell).join(",");
}

/** Without it, Excel takes a CSV for text in the letters of Windows; some programs take it for a part of the first name. */
export const BYTE_ORDER_MARK = "\uFEFF";

export const BOM_FLAG = [
  "--bom",
  "begin the CSV with a byte order mark, so that Excel reads its letters right",
] as const;

/** Other people's words must not become a formula of a spreadsheet. */
export function asText(words: string): string {
  return /^[=+\-@\t\r]/.test(words) && words !== "-" ? `'${words}` : words;
}

function cell(value: string): string {
  return /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}
