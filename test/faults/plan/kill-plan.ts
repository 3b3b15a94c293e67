import { Chance } from "./chance.ts";
import { OPERATIONS, type OperationName } from "./disturbances.ts";

/** Where a call stands when the worker that made it dies. */
export const BOUNDARIES = ["arrived", "processed", "answered"] as const;
export type Boundary = (typeof BOUNDARIES)[number];

export interface BoundaryKill {
  readonly kill: "worker-at-call";
  readonly operation: OperationName;
  readonly at: Boundary;
  /**
   * Of one that has arrived and was not processed: whether the service processes it all the same, with nobody left to
   * hear of it.
   */
  readonly processed: boolean;
}

export type Kill =
  | BoundaryKill
  /** Whatever it is doing. */
  | { readonly kill: "worker"; readonly afterMs: number }
  | { readonly kill: "receiver"; readonly afterMs: number }
  /** The database of the claims. */
  | { readonly kill: "ledger"; readonly afterMs: number }
  /** `andWorker`: one of those that wait for the server dies meanwhile. */
  | { readonly kill: "temporal"; readonly afterMs: number; readonly awayMs: number; readonly andWorker: boolean };

/**
 * So many kills of workers, at every boundary as evenly as their number allows and some at random, with the servers'
 * among them.
 */
export function planKills(seed: number, workers: number): Kill[] {
  const chance = new Chance(seed, "kills");
  const boundaries = OPERATIONS.flatMap((operation) => BOUNDARIES.map((at) => ({ operation, at })));
  const random = Math.min(workers, Math.max(1, Math.round(workers / 6)));
  const atCalls = Array.from({ length: workers - random }, (_, index): Kill => {
    const boundary = boundaries[index % boundaries.length];
    if (boundary === undefined) throw new Error("there is no boundary");
    const processed = boundary.at !== "arrived" || chance.happens(0.5);
    return { kill: "worker-at-call", ...boundary, processed };
  });
  const others: Kill[] = [];
  const soon = (): number => chance.whole(0, 1_500);
  for (let n = 0; n < random; n += 1) others.push({ kill: "worker", afterMs: soon() });
  for (let n = 0; n < Math.ceil(workers / 12); n += 1) others.push({ kill: "receiver", afterMs: soon() });
  for (let n = 0; n < Math.ceil(workers / 12); n += 1) others.push({ kill: "ledger", afterMs: soon() });
  for (let n = 0; n < Math.ceil(workers / 13); n += 1)
    others.push({ kill: "temporal", afterMs: soon(), awayMs: chance.whole(0, 2_000), andWorker: chance.happens(0.5) });
  return chance.shuffled([...atCalls, ...others]);
}
