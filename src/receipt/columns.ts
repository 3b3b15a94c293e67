import { eastAsianWidth } from "get-east-asian-width";

/** Font A of a printer for paper of 80 mm. */
export const COLUMNS = 42;

const CLUSTERS = new Intl.Segmenter("en", { granularity: "grapheme" });

/** The columns that a text takes on a terminal or a printer: Chinese and emoji take two each, combining marks none. */
export function widthOf(text: string): number {
  const columns = Array.from(text, (one) => (/[\p{M}\p{Cf}]/u.test(one) ? 0 : eastAsianWidth(one.codePointAt(0) ?? 0)));
  return columns.reduce((sum: number, of) => sum + of, 0);
}

/** Lines that are as wide at most; a word that is wider is cut between two characters. */
export function wrapped(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = "";
  const add = (piece: string, separator: string): void => {
    const longer = line === "" ? piece : `${line}${separator}${piece}`;
    if (widthOf(longer) <= columns) {
      line = longer;
      return;
    }
    if (line !== "") lines.push(line);
    line = piece;
  };
  for (const word of text.split(" ")) {
    if (widthOf(word) <= columns) {
      add(word, " ");
      continue;
    }
    for (const [index, { segment }] of [...CLUSTERS.segment(word)].entries()) add(segment, index === 0 ? " " : "");
  }
  return [...lines, line];
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
