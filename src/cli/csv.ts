/** A line of RFC 4180, without its end. */
export function csvLine(values: readonly string[]): string {
  return values.map(cell).join(",");
}

/** Other people's words must not become a formula of a spreadsheet. */
export function asText(words: string): string {
  return /^[=+\-@\t\r]/.test(words) && words !== "-" ? `'${words}` : words;
}

function cell(value: string): string {
  return /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}
