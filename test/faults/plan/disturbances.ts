import type { Fault } from "../../../src/dev/simulator/index.ts";
import { CALL_TIMEOUT_MS } from "../stack/timings.ts";

/** The operations of the API that sales and credit notes use, by the simulator's names. */
export const OPERATIONS = [
  "listItems",
  "registerItem",
  "createSale",
  "readSale",
  "retry",
  "creditNote",
  "adjustStock",
] as const;
export type OperationName = (typeof OPERATIONS)[number];

type Disturbance = Omit<Fault, "operation">;

const LATE_MS = CALL_TIMEOUT_MS + 600;

/** Everything that can happen to one call, each of which every operation meets. */
export const DISTURBANCES: readonly Disturbance[] = [
  { when: "before", kind: "drop" },
  { when: "after", kind: "drop" },
  { when: "before", kind: "status", status: 503 },
  { when: "after", kind: "status", status: 500 },
  { when: "before", kind: "slow", delayMs: LATE_MS },
  { when: "after", kind: "slow", delayMs: LATE_MS },
  { when: "before", kind: "half-body" },
  { when: "after", kind: "half-body" },
  { when: "before", kind: "not-json", status: 502 },
  { when: "after", kind: "not-json", status: 200 },
  { when: "after", kind: "wrong-types" },
  { when: "before", kind: "rate-limit", retryAfterSeconds: 1 },
];

/** What strikes any call by chance, all the time. */
export function chanceFaults(probability: number): Fault[] {
  return DISTURBANCES.map((disturbance) => ({ operation: "*", ...disturbance, probability }));
}

/** A storm: so many calls in a row are refused. */
export function rateLimitStorm(calls: number): Fault {
  return { operation: "*", when: "before", kind: "rate-limit", retryAfterSeconds: 1, times: calls };
}

/** What strikes callbacks by chance. */
const CALLBACK_PROBABILITY = 0.05;
const CALLBACK_LATE_MS = 5_000;
export const CALLBACK_FAULTS: readonly Fault[] = [
  ...(["lost", "early", "doubled", "out-of-order", "forged"] as const).map((kind) => callbackFault(kind)),
  { ...callbackFault("late"), delayMs: CALLBACK_LATE_MS },
];

function callbackFault(kind: "lost" | "early" | "doubled" | "out-of-order" | "forged" | "late"): Fault {
  return { operation: "callback", when: "before", kind, probability: CALLBACK_PROBABILITY };
}
