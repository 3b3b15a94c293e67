import { parseArgs } from "node:util";

export interface BudgetOptions {
  /** Medians of five runs over twenty full windows, and ten minutes at the real window's length. */
  readonly full: boolean;
  readonly seed: number;
  readonly runs: number;
  /** Full windows that are measured in each lane. */
  readonly windows: number;
  readonly windowMs: number;
  readonly limit: number;
  /** Pairs of lone sales. */
  readonly pairs: number;
  /** The lanes to run; all where it is empty. */
  readonly only: readonly string[];
  readonly outFolder: string;
  /** After this the benchmark gives up and cleans up. */
  readonly bound: number;
}

/** Below this the latency of the engine decides, and not the budget. */
const SHORTEST_WINDOW_SECONDS = 20;
const DEFAULT_BOUND_MINUTES = 15;
const FULL_BOUND_MINUTES = 360;

export const USAGE = `npm run bench:budget -- [--full] [--seed n] [--windows n] [--window-seconds n] [--limit n] [--pairs n] [--runs n]
  [--only lane,lane] [--out folder]
  --full            medians of 5 runs over 20 windows each, then ten minutes at the real window's length
  --only            lanes, as they are named in the table's first column
  --window-seconds  at least ${SHORTEST_WINDOW_SECONDS}; default ${SHORTEST_WINDOW_SECONDS}
  --limit           requests in a window of an application; default 120`;

/** @throws an error whose message names the wrong argument */
export function readOptions(args: string[]): BudgetOptions {
  const { values } = parseArgs({
    args,
    options: {
      full: { type: "boolean", default: false },
      seed: { type: "string" },
      runs: { type: "string" },
      windows: { type: "string" },
      "window-seconds": { type: "string" },
      limit: { type: "string" },
      pairs: { type: "string" },
      only: { type: "string", default: "" },
      out: { type: "string", default: "bench/results" },
    },
  });
  const { full } = values;
  const windowSeconds = positive("window-seconds", values["window-seconds"], SHORTEST_WINDOW_SECONDS);
  if (windowSeconds < SHORTEST_WINDOW_SECONDS)
    throw new Error(`--window-seconds: expected at least ${SHORTEST_WINDOW_SECONDS}, found ${windowSeconds}`);
  return {
    full,
    seed: positive("seed", values.seed, Math.ceil(Math.random() * 1_000_000)),
    runs: positive("runs", values.runs, full ? 5 : 1),
    windows: positive("windows", values.windows, full ? 20 : 4),
    windowMs: windowSeconds * 1_000,
    limit: positive("limit", values.limit, 120),
    pairs: positive("pairs", values.pairs, full ? 100 : 30),
    only: values.only === "" ? [] : values.only.split(","),
    outFolder: values.out,
    bound: (full ? FULL_BOUND_MINUTES : DEFAULT_BOUND_MINUTES) * 60_000,
  };
}

function positive(name: string, text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise;
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1)
    throw new Error(`--${name}: expected a whole number from 1, found ${JSON.stringify(text)}`);
  return value;
}
