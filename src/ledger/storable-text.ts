import { cleanText } from "./clean-text.ts";

/**
 * As PostgreSQL gives it back, so that what is hashed now is what is read later: halves of characters become U+FFFD on
 * the way.
 */
export function storableText(text: string): string {
  return cleanText(Buffer.from(text, "utf8").toString("utf8"));
}
