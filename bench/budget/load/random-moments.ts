import { setTimeout as delay } from "node:timers/promises";

/**
 * Calls `happen` at random moments (exponential gaps) until the signal; a moment that is missed is made up for at once.
 */
export async function atRandomMoments(options: {
  readonly perSecond: number;
  readonly random: () => number;
  readonly signal: AbortSignal;
  readonly happen: () => void;
}): Promise<void> {
  const { perSecond, random, signal, happen } = options;
  for (let nextMs = Date.now(); ;) {
    nextMs += (-Math.log(1 - random()) / perSecond) * 1_000;
    try {
      await delay(Math.max(0, nextMs - Date.now()), undefined, { signal });
    } catch {
      return;
    }
    happen();
  }
}

/** Calls a second of this share of the limit. */
export function ratePerSecond(share: number, { limit, windowMs }: { limit: number; windowMs: number }): number {
  return (share * limit) / (windowMs / 1_000);
}
