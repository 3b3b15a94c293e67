const NAMES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** Other people's words as words of a page. */
export function escapeHtml(words: string): string {
  return words.replace(/[&<>"']/g, (character) => NAMES[character] ?? character);
}
