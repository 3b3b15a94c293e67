import { plainText } from "../contract/plain-text.ts";

const NAMES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** Other people's words as words of a page, in its text and in its attributes. */
export function escapeHtml(words: string): string {
  return plainText(words).replaceAll(/[&<>"']/g, (character) => NAMES[character] ?? character);
}
