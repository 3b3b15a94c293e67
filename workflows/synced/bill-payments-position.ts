import type { PagesRead } from "./endless-list.ts";
import type { BillPaymentsGround, BillPaymentsPage, BillPaymentsSyncKind } from "../../src/contract/index.ts";

/**
 * The phases of a synchronisation, in their order:
 *
 * - full: ground → (round → latest → compare) until a round's passes agree → complete
 * - recent: latest → compare → complete
 *
 * `ground` sees which change is the newest before anything is read. A `round` reads every list from its oldest payment
 * on: the list of all, then that of each status. `latest` reads every list by its latest changes until known ground,
 * which brings what changed since.
 */
export type Phase = "ground" | "round" | "latest" | "compare" | "complete";

/** Where a synchronisation is: all that another run needs to go on. Times are Unix milliseconds. */
export interface Position {
  phase: Phase;
  /** Counts the rounds of a full synchronisation from 1; 0 before the first. */
  round: number;
  /** Tells a round from one of the same number that a run has begun which was reset since. */
  draw?: string | undefined;
  /** 0: the list of all; then those of the statuses. */
  list: number;
  /** The next page of it, from 1. */
  page: number;
  /**
   * Changes up to here are known: read by latest change, a list is left at the first page that reaches below. Absent:
   * none are.
   */
  groundMs?: number | undefined;
  /** The newest change that the list of all had when `latest` began. */
  topMs?: number | undefined;
  /** By the clock of the ledger: when the first page of all was asked for, and the first of the round. */
  startedAtMs?: number | undefined;
  roundStartedAtMs?: number | undefined;
  /** Since when all has been seen, once that is so. */
  wholeSinceMs?: number | undefined;
  /** The newest payment that the round's list of all had when its end was read. */
  reachMs?: number | undefined;
  /** How many payments each list has, by the last page of `latest`. */
  totals: number[];
  /**
   * Of each list, how many rows were left out and are not in the ledger: of the round, or of the synchronisation that
   * a recent one builds upon.
   */
  leftOut?: number[] | undefined;
  /** A row had no id that can be read: nothing that was not seen is known to have vanished. */
  unidentified?: true;
  settled: boolean;
  /** Of the pass that is read. */
  pagesRead?: PagesRead | undefined;
}

/** Changes that became visible late are looked for this far below known ground. */
const OVERLAP_MS = 10 * 60_000;

/**
 * Rows can move between pages while they are read. What the passes of so many rounds do not agree on is left to the
 * next synchronisation.
 */
const MOST_ROUNDS = 6;

export function beginning(kind: BillPaymentsSyncKind, { knownUntilMs, leftOut }: BillPaymentsGround): Position {
  const start = { round: 0, list: 0, page: 1, totals: [], settled: false };
  if (kind === "full") return { ...start, phase: "ground" };
  return { ...start, phase: "latest", groundMs: below(knownUntilMs), leftOut };
}

/** @param lists how many there are, that of all among them */
export function afterPage(before: Position, page: BillPaymentsPage, lists: number): Position {
  const position: Position = page.unidentified ? { ...before, unidentified: true } : before;
  switch (position.phase) {
    case "ground":
      return { ...beginRound(position), startedAtMs: page.askedAtMs, groundMs: below(page.newestUpdatedMs) };
    case "round":
      return afterRoundPage(position, page, lists);
    case "latest":
      return afterLatestPage(position, page, lists);
    default:
      return position;
  }
}

/** @param wholeSinceMs since when what was seen is all that the service has; undefined where it is not */
export function afterComparison(
  position: Position,
  kind: BillPaymentsSyncKind,
  wholeSinceMs: number | undefined,
): Position {
  const settled = wholeSinceMs !== undefined;
  if (settled || kind === "recent" || position.round >= MOST_ROUNDS) {
    return { ...position, phase: "complete", settled, wholeSinceMs };
  }
  return { ...beginRound(position), groundMs: below(position.topMs) };
}

function beginRound(position: Position): Position {
  const { round } = position;
  return {
    ...position,
    phase: "round",
    round: round + 1,
    draw: undefined,
    list: 0,
    page: 1,
    roundStartedAtMs: undefined,
    reachMs: undefined,
    leftOut: [],
  };
}

function afterRoundPage(position: Position, page: BillPaymentsPage, lists: number): Position {
  const { list } = position;
  const leftOut = [...(position.leftOut ?? [])];
  leftOut[list] = (leftOut[list] ?? 0) + (page.leftOut ?? 0);
  const seen: Position = {
    ...position,
    leftOut,
    roundStartedAtMs: position.roundStartedAtMs ?? page.askedAtMs,
    ...(list === 0 && { reachMs: newer(position.reachMs, page.newestCreatedMs) }),
  };
  if (page.hasNextPage) return { ...seen, page: position.page + 1 };
  if (list + 1 < lists) return { ...seen, list: list + 1, page: 1 };
  return { ...seen, phase: "latest", list: 0, page: 1, topMs: undefined, totals: [] };
}

function afterLatestPage(position: Position, page: BillPaymentsPage, lists: number): Position {
  const { list, groundMs } = position;
  const isTop = list === 0 && position.page === 1;
  const totals = [...position.totals];
  if (page.total !== undefined) totals[list] = page.total;
  const seen: Position = { ...position, totals, ...(isTop && { topMs: page.newestUpdatedMs }) };
  const onKnownGround = groundMs !== undefined && page.oldestUpdatedMs !== undefined && page.oldestUpdatedMs < groundMs;
  if (page.hasNextPage && !onKnownGround) return { ...seen, page: position.page + 1 };
  if (list + 1 < lists) return { ...seen, list: list + 1, page: 1 };
  return { ...seen, phase: "compare" };
}

function below(knownMs: number | undefined): number | undefined {
  return knownMs === undefined ? undefined : knownMs - OVERLAP_MS;
}

function newer(before: number | undefined, now: number | undefined): number | undefined {
  if (before === undefined || now === undefined) return before ?? now;
  return Math.max(before, now);
}
