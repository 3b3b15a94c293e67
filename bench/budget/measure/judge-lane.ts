import type { Books, CallEntry } from "../../../src/dev/simulator/index.ts";
import { BIG } from "../businesses.ts";
import { readDocumentId } from "../documents.ts";
import type { Lane } from "../lanes.ts";
import { againstEqualShares } from "./equal-shares.ts";
import { mean, median, quantile } from "./statistics.ts";
import { type StartedJob, type Wait, waitsOf } from "./waits.ts";
import { type CountedWindow, countWindows } from "./windows.ts";

/** Shares are of 1, and undefined where they say nothing about the lane. */
export interface LaneFigures {
  readonly windows: number;
  readonly calls: number;
  readonly refused: number;
  /** Of what a stranger leaves of each window. */
  readonly meanUsed: number;
  readonly leastUsed: number;
  /** 429s, of all calls that were sent. */
  readonly ownRefusals: number;
  /** Of a window's length, until the first call of a job that came at a random moment arrived at the service. */
  readonly medianWait: number | undefined;
  readonly p95Wait: number | undefined;
  readonly worstWait: number | undefined;
  readonly jobs: number;
  readonly unserved: number;
  /** Of what interactive work leaves, the share that background work got. */
  readonly backgroundShare: number | undefined;
  /** Waits of the small businesses, against those under equal shares: of the typical and of the worst-off one. */
  readonly medianAgainstEqual: number | undefined;
  readonly worstAgainstEqual: number | undefined;
}

export interface JudgedLane {
  readonly lane: Lane;
  readonly figures: LaneFigures;
  readonly windows: readonly CountedWindow[];
}

export interface LaneEvidence {
  readonly lane: Lane;
  readonly jobs: readonly StartedJob[];
  /** The log since before the lane began. */
  readonly calls: readonly CallEntry[];
  readonly windows: Books["windows"];
  readonly limit: number;
  readonly windowMs: number;
  /** Of the first full window that counts, and of the end of the last. */
  readonly fromMs: number;
  readonly toMs: number;
}

export function judgeLane(evidence: LaneEvidence): JudgedLane {
  const { lane, limit, windowMs, fromMs, toMs, calls } = evidence;
  const windows = countWindows(lane.name, calls, evidence.windows).filter(
    ({ startMs }) => startMs >= fromMs && startMs < toMs,
  );
  const used = windows.map((window) => (window.interactive + window.background) / (limit - window.stranger));
  const admitted = sum(windows, (window) => window.interactive + window.background);
  const refused = sum(windows, (window) => window.refused);
  const waits = countedWaits(evidence);
  const shares = waits.map(({ waitedMs }) => waitedMs / windowMs);
  const waited = shares.length > 0;
  const ratios = lane.load.backlog === "one-big" ? [...equalShares(evidence, waits).values()] : [];
  const figures: LaneFigures = {
    windows: windows.length,
    calls: admitted,
    refused,
    meanUsed: mean(used),
    leastUsed: Math.min(...used),
    ownRefusals: refused / Math.max(1, admitted + refused),
    medianWait: waited ? median(shares) : undefined,
    p95Wait: waited ? quantile(shares, 0.95) : undefined,
    worstWait: waited ? Math.max(...shares) : undefined,
    jobs: waits.length,
    unserved: waits.filter(({ served }) => !served).length,
    backgroundShare:
      lane.load.backlog === "background"
        ? mean(windows.map((window) => window.background / Math.max(1, limit - window.interactive)))
        : undefined,
    medianAgainstEqual: ratios.length > 0 ? median(ratios) : undefined,
    worstAgainstEqual: ratios.length > 0 ? Math.max(...ratios) : undefined,
  };
  return { lane, figures, windows };
}

/**
 * Not those of the last half window: whether they were served before the lane ended is chance. What stays unserved of
 * the others has waited more than half a window, and counts with what it has waited.
 */
function countedWaits({ jobs, calls, fromMs, toMs, windowMs }: LaneEvidence): Wait[] {
  const counted = jobs.filter(({ startedMs }) => startedMs >= fromMs && startedMs < toMs - windowMs / 2);
  return waitsOf(counted, calls, toMs);
}

/** With the waits of the jobs before and after, since they are in the queue too. */
function equalShares(evidence: LaneEvidence, counted: readonly Wait[]): Map<string, number> {
  const { lane, jobs, calls, toMs } = evidence;
  const servedMs = calls
    .filter(
      ({ saleId, status }) =>
        saleId !== null && status !== null && status !== 429 && readDocumentId(saleId)?.lane === lane.name,
    )
    .map(({ atMs }) => atMs);
  const all = waitsOf(jobs, calls, toMs);
  const wanted = new Set(counted.map(({ saleId }) => saleId));
  return againstEqualShares(all, BIG, servedMs, toMs, ({ saleId }) => wanted.has(saleId));
}

function sum(windows: readonly CountedWindow[], of: (window: CountedWindow) => number): number {
  return windows.reduce((total, window) => total + of(window), 0);
}
