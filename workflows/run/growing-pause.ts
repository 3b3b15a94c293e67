const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 10 * 60_000;

/** The pause before another try, doubling from a second to ten minutes, where the service does not say how long. */
export function growingPauseMs(triesBefore: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** Math.min(triesBefore, 20), LONGEST_PAUSE_MS);
}
