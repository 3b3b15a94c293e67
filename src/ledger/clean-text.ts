/** PostgreSQL keeps no zero characters in text; what people and services write may have them. */
export function cleanText(text: string): string {
  return text.replaceAll("\0", "");
}
