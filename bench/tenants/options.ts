import { parseArgs } from "node:util";

export interface TenantsOptions {
  readonly shops: number;
  /** Worker processes that serve all shops: a part of the benchmark for each. */
  readonly processes: readonly number[];
  /** Parts of the benchmark to run. */
  readonly only: readonly Part[];
  /** How often each part is measured; its figures are the medians. */
  readonly runs: number;
  /** Sales of all well shops together, in a second. */
  readonly rate: number;
  /** Pairs of blocks, one with the last shop well and one with it in trouble. */
  readonly pairs: number;
  /** Of each block. */
  readonly seconds: number;
  readonly trouble: Trouble;
  readonly outFolder: string;
}

const PARTS = ["idle", "busy"] as const;
export type Part = (typeof PARTS)[number];

/** What the service does to all calls of the last shop: it answers 500, or does not answer; or nothing, to compare. */
const TROUBLES = ["500", "hangs", "none"] as const;
export type Trouble = (typeof TROUBLES)[number];

export const USAGE = `npm run bench:tenants -- [--shops n] [--processes 1,3] [--only ${PARTS.join(",")}] [--runs n] [--rate n] [--pairs n]
  [--seconds n] [--trouble ${TROUBLES.join("|")}] [--out folder]
  --shops      connections, each with a business, a key and a budget of its own; default 50
  --processes  worker processes that serve them; the figures are measured with each number; default 1,3
  --only       idle: a worker process without work, with one connection and with all;
               busy: a key rotated under load, then the others' sales while the last shop is well and while it is not
  --runs       each figure is the median of so many; default 1
  --rate       sales a second of the well shops together; default 5
  --pairs      of blocks, one with the last shop well and one with it in trouble; default 4
  --seconds    of each block; default 10
  --trouble    what the service does to the last shop: answers 500 to every call, answers none (hangs), or is well (none),
               which shows how much two measures differ by themselves; default 500`;

/** @throws an error whose message names the wrong argument */
export function readOptions(args: string[]): TenantsOptions {
  const { values } = parseArgs({
    args,
    options: {
      shops: { type: "string", default: "50" },
      processes: { type: "string", default: "1,3" },
      only: { type: "string", default: PARTS.join(",") },
      runs: { type: "string", default: "1" },
      rate: { type: "string", default: "5" },
      pairs: { type: "string", default: "4" },
      seconds: { type: "string", default: "10" },
      trouble: { type: "string", default: "500" },
      out: { type: "string", default: "bench/results" },
    },
  });
  const shops = positive("shops", values.shops);
  if (shops < 3) throw new Error(`--shops: expected at least 3, found ${shops}`);
  return {
    shops,
    processes: values.processes.split(",").map((text) => positive("processes", text)),
    only: values.only.split(",").map((text) => oneOf("only", PARTS, text)),
    runs: positive("runs", values.runs),
    rate: positive("rate", values.rate),
    pairs: positive("pairs", values.pairs),
    seconds: positive("seconds", values.seconds),
    trouble: oneOf("trouble", TROUBLES, values.trouble),
    outFolder: values.out,
  };
}

function oneOf<Name extends string>(option: string, names: readonly Name[], text: string): Name {
  const name = names.find((one) => one === text);
  if (name !== undefined) return name;
  throw new Error(`--${option}: expected some of ${names.join(", ")}, found ${JSON.stringify(text)}`);
}

function positive(name: string, text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new Error(`--${name}: expected a number above 0, found ${JSON.stringify(text)}`);
  return value;
}
