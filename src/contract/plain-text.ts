/**
 * Other people's words, of buyers, suppliers and services, before they are shown. What is dangerous is the same
 * everywhere, and stands here alone. What each output needs besides stands with it: a cell of a CSV in
 * `src/cli/tables.ts`, HTML in `src/receipt/html.ts`, Markdown in `workflows/operator/updates.ts`, the letters of
 * printers and PDF in `src/receipt/latin.ts`.
 */

/** Control characters (ESC, C1), halves of characters, line separators, and what turns the direction of a text. */
const OBEYED = /[\p{Cc}\p{Cs}\u2028\u2029\u202A-\u202E\u2066-\u2069]/u;

/**
 * Characters that nobody sees: two names that look alike differ by them. The joiners stay behind letters of scripts
 * that need them (Persian, Hindi) and in emoji, and so do the selectors of variants.
 */
const UNSEEN =
  /(?<![\p{M}\p{Lo}\p{Extended_Pictographic}\p{Emoji_Modifier}])\p{Join_Control}|(?!\p{Join_Control}|\p{Variation_Selector})[\p{Default_Ignorable_Code_Point}\uFFF9-\uFFFB]/u;

/** Marks on one letter, of which a higher stack covers the lines above it. No language needs more than six. */
const STACKED = /(?<=\p{M}{6})\p{M}/u;

const everyOf = (...patterns: readonly RegExp[]): RegExp =>
  new RegExp(patterns.map(({ source }) => source).join("|"), "gu");

const EVERY_UNSEEN = everyOf(UNSEEN, STACKED);
const EVERY_OBEYED = everyOf(OBEYED);
const EVERY_ODD = everyOf(OBEYED, UNSEEN, STACKED);

/** A text of several lines without what a terminal, a printer or a browser would obey. Line breaks stay. */
export function plainText(text: string): string {
  return text.replaceAll("\r\n", "\n").split("\n").map(withoutOdd).join("\n");
}

/** The same on one line, so that nothing in it looks like a line of ours. */
export function plainLine(text: string): string {
  return withoutOdd(text.replaceAll(/[\t-\r\u0085\u2028\u2029]+/g, " "));
}

/** Overrides are reordering marks that are not seen either: they are shown as the odd characters that they are. */
function withoutOdd(line: string): string {
  return line.replaceAll(EVERY_OBEYED, "\uFFFD").replaceAll(EVERY_UNSEEN, "");
}

/** The same JSON, in which a terminal has nothing to obey: such characters are written as `\u001b`. */
export function plainJson(json: string): string {
  return json.replaceAll(EVERY_ODD, (one) => (one === "\n" ? one : escaped(one)));
}

function escaped(character: string): string {
  return Array.from({ length: character.length }, (_, index) => {
    const code = character.charCodeAt(index).toString(16).padStart(4, "0");
    return `\\u${code}`;
  }).join("");
}

/** Of many parts of a text the first, and how many more there are: a text is for people. */
export function fewOf(parts: readonly string[], most = 20): string[] {
  const more = parts.length - most;
  return more > 1 ? [...parts.slice(0, most), `and ${more} more`] : [...parts];
}

/** A word of a command line that can be pasted into a POSIX shell, or into PowerShell on Windows. */
export function shellWord(text: string, platform: NodeJS.Platform = process.platform): string {
  const isWindows = platform === "win32";
  const plain = isWindows ? /^[\w+=:./-]+$/ : /^[\w@%+=:,./-]+$/;
  if (plain.test(text) && !text.startsWith("-")) return text;
  return `'${text.replaceAll("'", isWindows ? "''" : `'\\''`)}'`;
}

export function jsonBytes(value: unknown): number {
  return new TextEncoder().encode(JSON.stringify(value)).length;
}
