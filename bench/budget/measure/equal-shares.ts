import type { Wait } from "./waits.ts";

/**
 * How much longer each small business waited than it would have, had the same moments of service been dealt out in turn
 * to all who had work. The big one always has.
 * @param servedMs when the service was called for anybody, in order
 * @param counts whether a job's wait goes into the figure; the others only stand in the queue
 * @returns by business: its waits together, against those under equal shares
 */
export function againstEqualShares(
  waits: readonly Wait[],
  big: string,
  servedMs: readonly number[],
  endMs: number,
  counts: (wait: Wait) => boolean,
): Map<string, number> {
  const equal = waitsUnderEqualShares(waits, big, servedMs, endMs);
  const sums = new Map<string, { real: number; equal: number }>();
  for (const wait of waits.filter(counts)) {
    const sum = sums.get(wait.businessId) ?? { real: 0, equal: 0 };
    sum.real += wait.waitedMs;
    sum.equal += equal.get(wait) ?? 0;
    sums.set(wait.businessId, sum);
  }
  // A wait of nothing at all would be no measure.
  return new Map([...sums].map(([businessId, sum]) => [businessId, sum.real / Math.max(1, sum.equal)]));
}

function waitsUnderEqualShares(
  waits: readonly Wait[],
  big: string,
  servedMs: readonly number[],
  endMs: number,
): Map<Wait, number> {
  const coming = [...waits].sort((one, other) => one.startedMs - other.startedMs);
  const waiting = new Map<string, Wait[]>();
  const turns = [big];
  const result = new Map<Wait, number>(waits.map((wait) => [wait, Math.max(0, endMs - wait.startedMs)]));
  for (const atMs of servedMs) {
    for (let next = coming[0]; next !== undefined && next.startedMs <= atMs; next = coming[0]) {
      coming.shift();
      const theirs = waiting.get(next.businessId) ?? [];
      if (theirs.length === 0) turns.push(next.businessId);
      waiting.set(next.businessId, [...theirs, next]);
    }
    const turn = turns.shift() ?? big;
    if (turn === big) {
      turns.push(big);
      continue;
    }
    const [served, ...rest] = waiting.get(turn) ?? [];
    waiting.set(turn, rest);
    if (rest.length > 0) turns.push(turn);
    if (served) result.set(served, atMs - served.startedMs);
  }
  return result;
}
