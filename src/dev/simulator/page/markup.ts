const NAMES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** Not to be seen in a page, or turning the direction of what stands beside them. */
const ODD = /[\p{Cc}\p{Cs}\p{Default_Ignorable_Code_Point}\u2028\u2029\uFFF9-\uFFFB]/gu;
/** Emoji and scripts such as Persian and Hindi need them. */
const NEEDED = /\p{Join_Control}|\p{Variation_Selector}/u;
const STACKED = /(\p{M}{6})\p{M}+/gu;

/** Words of others as words of a page. */
export function escaped(words: string): string {
  return words
    .replaceAll(ODD, (character) => (NEEDED.test(character) ? character : "\uFFFD"))
    .replaceAll(STACKED, "$1")
    .replaceAll(/[&<>"']/g, (character) => NAMES[character] ?? character);
}

/** A cell that is markup already: a button. */
export interface Markup {
  readonly html: string;
}

export type Cell = string | number | Markup | null | undefined;

/** A heading and its table; with no rows, what to say instead. */
export function section(
  title: string,
  head: readonly string[],
  rows: readonly (readonly Cell[])[],
  none: string,
): string {
  if (rows.length === 0) return `<h2>${escaped(title)}</h2><p>${escaped(none)}</p>`;
  const heads = head.map((name) => `<th scope="col">${escaped(name)}</th>`).join("");
  const body = rows.map((row) => `<tr>${row.map((cell) => `<td>${shown(cell)}</td>`).join("")}</tr>`).join("\n");
  return `<h2>${escaped(title)}</h2><div class="wide"><table><thead><tr>${heads}</tr></thead>\n<tbody>${body}</tbody></table></div>`;
}

function shown(cell: Cell): string {
  if (cell === null || cell === undefined) return "–";
  return typeof cell === "object" ? cell.html : escaped(String(cell));
}

/** A button that posts to one of the page's own addresses. */
export function button(address: string, label: string): Markup {
  return { html: `<form method="post" action="${escaped(address)}"><button>${escaped(label)}</button></form>` };
}
