import { parseArgs } from "node:util";

export interface EngineOptions {
  /** Each figure is the median of so many. */
  readonly runs: number;
  /** Sales at once, one measure each. */
  readonly atOnce: readonly number[];
  /** Parts of the benchmark to run. */
  readonly only: readonly Part[];
  /** Shrinks or stretches the number of sales of each measure. */
  readonly scale: number;
  readonly outFolder: string;
}

const PARTS = ["product", "bare", "same", "far", "large"] as const;
export type Part = (typeof PARTS)[number];

export const USAGE = `npm run bench:engine -- [--runs n] [--at-once 1,10,40,100] [--only ${PARTS.join(",")}] [--scale n] [--out folder]
  --runs     each figure is the median of so many; default 5
  --at-once  sales at once, one measure each
  --only     product: the product; bare: a workflow with the same two HTTP calls; same: with as many activities as the product, too;
             far: the product with 200 open sales, beside its Temporal server and 75 ms away from it;
             large: small sales, one after the other, alone and beside one of 1,000 stock-tracked lines
  --scale    how many sales each measure has, relative to the default; default 1
The product's worker has the variables FISCALFLOW_WORKER_* of the benchmark, so that settings can be compared.`;

/** @throws an error whose message names the wrong argument */
export function readOptions(args: string[]): EngineOptions {
  const { values } = parseArgs({
    args,
    options: {
      runs: { type: "string", default: "5" },
      "at-once": { type: "string", default: "1,10,40,100" },
      only: { type: "string", default: PARTS.join(",") },
      scale: { type: "string", default: "1" },
      out: { type: "string", default: "bench/results" },
    },
  });
  const only = values.only.split(",").map((name) => {
    const part = PARTS.find((one) => one === name);
    if (part === undefined)
      throw new Error(`--only: expected some of ${PARTS.join(", ")}, found ${JSON.stringify(name)}`);
    return part;
  });
  return {
    runs: positive("runs", values.runs),
    atOnce: values["at-once"].split(",").map((text) => positive("at-once", text)),
    only,
    scale: positive("scale", values.scale),
    outFolder: values.out,
  };
}

function positive(name: string, text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new Error(`--${name}: expected a number above 0, found ${JSON.stringify(text)}`);
  return value;
}
