import { eastAsianWidth } from "get-east-asian-width";

/** Font A of a printer for paper of 80 mm. */
export const COLUMNS = 42;

const CLUSTERS = new Intl.Segmenter("en", { granularity: "grapheme" });

/** A narrow sign that is drawn as an emoji takes two columns, of which the sign itself is one. */
const AS_EMOJI = "\uFE0F";

/**
 * The columns that a text takes on a terminal or a printer: Chinese and emoji take two each, marks above and below
 * letters none. Where terminals differ, as many as any of them takes.
 */
export function widthOf(text: string): number {
  const columns = Array.from(text, (one) => {
    if (one === AS_EMOJI) return 1;
    return /[\p{Mn}\p{Me}\p{Default_Ignorable_Code_Point}]/u.test(one) ? 0 : eastAsianWidth(one.codePointAt(0) ?? 0);
  });
  return columns.reduce((sum: number, of) => sum + of, 0);
}

/** Lines that are as wide at most; a word that is wider is cut between two characters. */
export function wrapped(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = "";
  // Counted on: to measure each line again for each character takes seconds for a name of 20,000.
  let width = 0;
  const add = (piece: string, separator: string): void => {
    const added = widthOf(piece);
    const between = line === "" ? "" : separator;
    if (width + between.length + added <= columns) {
      line = `${line}${between}${piece}`;
      width += between.length + added;
      return;
    }
    if (line !== "") lines.push(line);
    line = piece;
    width = added;
  };
  for (const word of text.split(" ")) {
    if (widthOf(word) <= columns) {
      add(word, " ");
      continue;
    }
    for (const [index, piece] of piecesOf(word, columns).entries()) add(piece, index === 0 ? " " : "");
  }
  return [...lines, line];
}

/** Characters as a reader sees them; one that is wider than a line, such as many emoji that are joined, in its parts. */
function piecesOf(word: string, columns: number): string[] {
  return Array.from(CLUSTERS.segment(word), ({ segment }) => segment).flatMap((segment) =>
    widthOf(segment) <= columns ? [segment] : Array.from(segment),
  );
}

/** Both on one line, at its two ends; where they do not fit, the second one follows below, at the right. */
export function apart(left: string, right: string): string[] {
  const space = COLUMNS - widthOf(left) - widthOf(right);
  if (space > 0) return [`${left}${" ".repeat(space)}${right}`];
  const below = wrapped(right, COLUMNS - 2).map((line) => `${" ".repeat(COLUMNS - widthOf(line))}${line}`);
  return [...wrapped(left, COLUMNS), ...below];
}

export function centred(text: string): string[] {
  return wrapped(text, COLUMNS).map((line) => `${" ".repeat(Math.floor((COLUMNS - widthOf(line)) / 2))}${line}`);
}
