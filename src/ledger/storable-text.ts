/**
 * As PostgreSQL gives it back, so that what is hashed now is what is read later: halves of characters become U+FFFD on
 * the way.
 */
export function storableText(text: string): string {
  return cleanText(Buffer.from(text, "utf8").toString("utf8"));
}

/** PostgreSQL keeps no zero characters in text; what people and services write may have them. */
export function cleanText(text: string): string {
  return text.replaceAll("\0", "");
}
