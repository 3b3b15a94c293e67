/**
 * What is known of the pages of one pass. One mark finds a cycle of any length (Brent's algorithm): each page is
 * compared with it, and it moves on to the pages 1, 2, 4, 8, …
 */
export interface PagesRead {
  pass: string;
  pages: number;
  mark?: string | undefined;
  markedAt: number;
  /** Pages that were the same as the mark. */
  repeats: number;
}

/** Rows that are added while a list is read can move the others by a whole page: that repeats one page, once. */
const MOST_REPEATS = 10;
/** At a hundred rows a page, two million rows. */
const MOST_PAGES = 20_000;

const NO_ROWS = "no rows";

/** @param pass what is read from its beginning to its end: pages of another one are not compared with these */
export function withPage(
  before: PagesRead | undefined,
  pass: string,
  { rows, leftOut = 0, fingerprint }: { rows: number; leftOut?: number | undefined; fingerprint?: string | undefined },
): PagesRead {
  const { pages, mark, markedAt, repeats } =
    before?.pass === pass ? before : { pages: 0, mark: undefined, markedAt: 0, repeats: 0 };
  const shown = rows + leftOut === 0 ? NO_ROWS : fingerprint;
  const read = pages + 1;
  const again = shown !== undefined && shown === mark ? repeats + 1 : repeats;
  if (read < 2 * markedAt) return { pass, pages: read, mark, markedAt, repeats: again };
  return { pass, pages: read, mark: shown, markedAt: read, repeats: again };
}

/** Why the pass would never end, as the beginning of a sentence; undefined where it may. */
export function whyEndless({ pages, repeats, mark }: PagesRead): string | undefined {
  if (repeats >= MOST_REPEATS) {
    const what = mark === NO_ROWS ? "pages without a row" : "pages that it had given before";
    return `The service gives ${what} again and again (${repeats} times in ${pages} pages), and says each time that there is a next page`;
  }
  return pages >= MOST_PAGES
    ? `The service has given ${pages} pages, and says each time that there is a next page`
    : undefined;
}
