import type { CompleteSyncRequest, CountedSync, KeptPageResult, Pass, SyncKind } from "../../src/contract/index.ts";

export interface Lists {
  whole: Pass[];
  /** By the latest changes first, until known ground. */
  latest: (knownUntilMs: number | undefined) => Pass[];
}

/** Where a synchronisation is: all that another run needs to go on. Times are of the ledger's clock. */
export interface Position {
  /** What is read: `rest` is what only the ledger can name once the lists are read. */
  reads: "whole" | "latest" | "rest";
  /** What is still to be read of it, the present pass first. */
  passes: Pass[];
  /** Of the next page of the pass; absent at its beginning. */
  cursor?: string | undefined;
  /** How often a pass began anew because its cursor was refused, since an operator was last asked about it. */
  restarts: number;
  /** Of the pass that is read. */
  pagesRead?: PagesRead | undefined;
  startedAtMs: number;
  /** How often the whole list was read; when that began last, and the time before. */
  sweeps: number;
  sweptFromMs: number[];
  /** When the last page was asked for of a list that has an end at known ground, or was read as a whole. */
  knownUntilMs?: number | undefined;
  /** How many rows each list has, as the service says: by status, `all` for that of all. */
  totals: Record<string, number>;
  /** Of each list, and of what was read of the latest, how many rows could not be read and are not in the ledger. */
  leftOut: Record<string, number>;
  /** A row had no id that can be read: it could be any, so nothing that was not seen is known to have vanished. */
  unidentified?: true;
}

/** Rows can move between pages while they are read. What so many sweeps do not settle is left to the next one. */
const MOST_SWEEPS = 6;

export function sweep(position: Position, { whole }: Lists): Position {
  const sweeps = position.sweeps + 1;
  return { ...position, reads: "whole", passes: whole, sweeps, totals: {}, leftOut: {} };
}

export function afterPage(position: Position, page: KeptPageResult): Position {
  const { passes, reads, sweeps } = position;
  const [pass = {}, ...rest] = passes;
  const list = pass.status ?? "all";
  const { askedAtMs, nextCursor, known, total, leftOut = 0 } = page;
  const isFirst = position.sweptFromMs.length < sweeps;
  // Any other list shows rows with older ones above them that nobody has seen: they are no ground to stop at.
  const makesGround = reads === "whole" || pass.knownUntilMs !== undefined;
  const counted = reads === "whole" ? list : LATEST;
  const after: Position = {
    ...position,
    ...(makesGround && { knownUntilMs: askedAtMs }),
    ...(isFirst && { sweptFromMs: [...position.sweptFromMs, askedAtMs] }),
    // A page that is gone by the time it is asked for says nothing of its list.
    ...(total !== undefined && { totals: { ...position.totals, [list]: total } }),
    leftOut: { ...position.leftOut, [counted]: (position.leftOut[counted] ?? 0) + leftOut },
    ...(page.unidentified && { unidentified: true }),
  };
  const isLastPage = nextCursor === null || (pass.knownUntilMs !== undefined && known);
  return isLastPage ? { ...after, passes: rest, cursor: undefined } : { ...after, cursor: nextCursor };
}

/** Beside the lists: rows that could not be read while what has changed last was read. */
const LATEST = "latest";

/** A cursor need not be good for ever. */
export function restarted(position: Position, restarts: number): Position {
  return { ...position, cursor: undefined, restarts };
}

/**
 * Since when all that the service has was seen. A row is gone once two sweeps in a row have not shown it, and what they
 * did show is as many as the service counts: one that was removed moves others past the reader.
 * @param count counts what was seen since an instant
 */
export async function wholeSince(
  position: Position,
  kind: SyncKind,
  count: (sinceMs: number) => Promise<CountedSync>,
): Promise<number | undefined> {
  if (kind === "window") return 0;
  const { startedAtMs, sweeps, sweptFromMs } = position;
  // After a recent one, all that the ledger holds.
  const instants = kind === "recent" ? [0] : [sweptFromMs.at(-2) ?? startedAtMs, startedAtMs];
  for (const sinceMs of new Set(instants)) {
    const counted = await count(sinceMs);
    if (isCounted(counted, position) && (sweeps !== 1 || counted.unseen === 0)) return sinceMs;
  }
  return undefined;
}

/** The service counts what the ledger cannot have, too. */
function isCounted({ total, byStatus }: CountedSync, { totals, leftOut }: Position): boolean {
  return Object.entries(totals).every(([list, counted]) => {
    const seen = list === "all" ? total : (byStatus[list] ?? 0);
    return seen === counted - (leftOut[list] ?? 0);
  });
}

/** What the ledger is told at the end. */
export function completionOf(
  { knownUntilMs, leftOut, unidentified }: Position,
  kind: SyncKind,
  wholeSinceMs: number | undefined,
): Pick<CompleteSyncRequest, "settled" | "knownUntilMs" | "leftOut" | "goneBeforeMs"> {
  if (kind !== "full") return { settled: wholeSinceMs !== undefined, knownUntilMs, leftOut };
  const goneBeforeMs = unidentified ? undefined : wholeSinceMs;
  return { settled: goneBeforeMs !== undefined, knownUntilMs, leftOut, goneBeforeMs };
}

export function isDueAgain({ sweeps }: Position, kind: SyncKind, wholeSinceMs: number | undefined): boolean {
  return kind === "full" && wholeSinceMs === undefined && sweeps < MOST_SWEEPS;
}

/**
 * One mark finds a cycle of any length (Brent's algorithm): each page is compared with it, and it moves on to the pages
 * 1, 2, 4, 8, …
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

/** As the beginning of a sentence; undefined if the pass may end. */
export function whyEndless({ pages, repeats, mark }: PagesRead): string | undefined {
  if (repeats >= MOST_REPEATS) {
    const what = mark === NO_ROWS ? "pages without a row" : "pages that it had given before";
    return `The service gives ${what} again and again (${repeats} times in ${pages} pages), and says each time that there is a next page`;
  }
  return pages >= MOST_PAGES
    ? `The service has given ${pages} pages, and says each time that there is a next page`
    : undefined;
}
