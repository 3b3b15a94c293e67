import { mean, median, quantile } from "../budget/measure/statistics.ts";
import { cpuMsOf, residentMbOf, waitedMsOf } from "../stack/process-figures.ts";
import type { ProductFleet } from "../stack/product-fleet.ts";
import { say } from "../stack/progress.ts";
import type { BenchStack } from "../stack/start-stack.ts";
import type { TenantsOptions } from "./options.ts";
import type { Sold, Tills } from "./sell.ts";
import type { KeyFiles, Shop } from "./shops.ts";

/** Sales of the well shops while the last one is well, or is not: of all blocks together. */
export interface Side {
  readonly sales: number;
  readonly medianSeconds: number;
  readonly p95Seconds: number;
  /** Those whose till gave up. */
  readonly withoutReceipt: number;
  /** Of all worker processes. */
  readonly workerCpuMsPerSecond: number;
  /** Calls of the last shop, in a second. */
  readonly callsOfLast: number;
  /** Of the time: how long a main thread waited for a processor, since other work on the machine had them all. */
  readonly heldUpShare: number;
}

export interface BusyFigures {
  readonly rotation: { readonly sales: number; readonly refused: number; readonly parked: number };
  readonly well: Side;
  readonly troubled: Side;
  /** p95 of the well shops' sales while the last shop is in trouble, beside that while it is well. */
  readonly ratio: number;
  /**
   * Sales of the last shop that waited for the service, and how long the last of them took at most after it was well
   * again.
   */
  readonly waiting: { readonly sales: number; readonly secondsToEnd: number };
  /** Of each worker process, at the end. */
  readonly residentMb: readonly number[];
}

interface Block {
  readonly seconds: readonly number[];
  readonly withoutReceipt: number;
  readonly workerCpuMsPerSecond: number;
  readonly callsOfLast: number;
  readonly heldUpShare: number;
}

/** A busy neighbour: two calls a sale come to three quarters of its budget. */
const LAST_PER_SECOND = 0.75;
const ROTATION_SECONDS = 20;
const ROTATING_PER_SECOND = 1.5;

export interface BusySetting {
  readonly stack: BenchStack;
  readonly fleet: ProductFleet;
  readonly keys: KeyFiles;
  readonly shops: readonly Shop[];
  readonly tills: Tills;
  readonly options: TenantsOptions;
}

export async function busyFigures(setting: BusySetting): Promise<BusyFigures> {
  const { fleet, options } = setting;
  // It warms the processes up, too: each catalogue is read, connections are open.
  const rotation = await rotate(setting);
  const sides = { well: [] as Block[], troubled: [] as Block[] };
  const waits: BusyFigures["waiting"][] = [];
  for (let pair = 0; pair < options.pairs; pair += 1) {
    // A machine that grows slower, or has other work for a while, counts for both sides.
    const order = pair % 2 === 0 ? (["well", "troubled"] as const) : (["troubled", "well"] as const);
    for (const side of order) {
      const end = side === "troubled" ? trouble(setting) : undefined;
      const { figures, ofLast } = await block(setting, side);
      sides[side].push(figures);
      end?.();
      const waiting = await untilOver(setting, ofLast);
      if (side === "troubled") waits.push(waiting);
    }
  }
  const [well, troubled] = [sideOf(sides.well), sideOf(sides.troubled)];
  return {
    rotation,
    well,
    troubled,
    ratio: troubled.p95Seconds / well.p95Seconds,
    waiting: {
      sales: waits.reduce((sum, { sales }) => sum + sales, 0),
      secondsToEnd: Math.max(...waits.map(({ secondsToEnd }) => secondsToEnd)),
    },
    residentMb: await Promise.all(fleet.pids.map(residentMbOf)),
  };
}

function sideOf(blocks: readonly Block[]): Side {
  const took = blocks.flatMap(({ seconds }) => seconds);
  return {
    sales: took.length,
    medianSeconds: median(took),
    p95Seconds: quantile(took, 0.95),
    withoutReceipt: blocks.reduce((sum, { withoutReceipt }) => sum + withoutReceipt, 0),
    workerCpuMsPerSecond: mean(blocks.map(({ workerCpuMsPerSecond }) => workerCpuMsPerSecond)),
    callsOfLast: mean(blocks.map(({ callsOfLast }) => callsOfLast)),
    heldUpShare: mean(blocks.map(({ heldUpShare }) => heldUpShare)),
  };
}

/** The first shop's key is replaced in the middle of its sales, while all others sell. */
async function rotate({ stack, keys, shops, tills, options }: BusySetting): Promise<BusyFigures["rotation"]> {
  const [first, ...others] = shops;
  if (!first) throw new Error("there is no shop");
  const refusedBefore = stack.simulator.calls({ status: 401 }).length;
  const all = tills.sellSteadily(others, options.rate, ROTATION_SECONDS);
  const before = await tills.sellSteadily([first], ROTATING_PER_SECOND, ROTATION_SECONDS / 2);
  keys.rotate(first);
  const after = await tills.sellSteadily([first], ROTATING_PER_SECOND, ROTATION_SECONDS / 2);
  const sales = await Promise.all([...before, ...after]);
  await Promise.all(await all);
  await Promise.all(sales.map((sale) => tills.ended(sale)));
  const parked = await Promise.all(sales.map((sale) => tills.wasParked(sale)));
  const refused = stack.simulator.calls({ status: 401 }).length - refusedBefore;
  if (refused === 0) throw new Error("the old key was never refused, so nothing was tried");
  say(`a key rotated: ${sales.length} sales, ${refused} calls refused`);
  return { sales: sales.length, refused, parked: parked.filter(Boolean).length };
}

const FAULTS = { "500": { kind: "status", status: 500 }, hangs: { kind: "slow", delayMs: 600_000 } } as const;

/** @returns what ends it */
function trouble({ stack, shops, options }: BusySetting): () => void {
  if (options.trouble === "none") return () => undefined;
  const match = { application: shops.at(-1)?.name ?? "" };
  return stack.simulator.inject({ operation: "*", when: "before", ...FAULTS[options.trouble], match });
}

async function block(setting: BusySetting, side: string): Promise<{ figures: Block; ofLast: Promise<Sold>[] }> {
  const { stack, fleet, shops, tills, options } = setting;
  const { rate, seconds } = options;
  const last = shops.slice(-1);
  const callsOfLast = (): number => stack.simulator.calls({ application: last[0]?.name ?? "" }).length;
  const cpuMs = async (): Promise<number> =>
    (await Promise.all(fleet.pids.map(cpuMsOf))).reduce((sum, ms) => sum + ms, 0);
  const pids = [process.pid, ...fleet.pids];
  const waitedMs = (): Promise<number[]> => Promise.all(pids.map(waitedMsOf));
  const before = { calls: callsOfLast(), cpuMs: await cpuMs(), waitedMs: await waitedMs() };
  const [begun, ofLast] = await Promise.all([
    tills.sellSteadily(shops.slice(0, -1), rate, seconds),
    tills.sellSteadily(last, LAST_PER_SECOND, seconds),
  ]);
  const after = { calls: callsOfLast(), cpuMs: await cpuMs(), waitedMs: await waitedMs() };
  const heldUpShare = Math.max(...after.waitedMs.map((ms, n) => (ms - (before.waitedMs[n] ?? 0)) / (1_000 * seconds)));
  const sales = await Promise.all(begun);
  const took = sales.map((sale) => sale.seconds);
  const figures = {
    seconds: took,
    withoutReceipt: sales.filter(({ hasReceipt }) => !hasReceipt).length,
    workerCpuMsPerSecond: (after.cpuMs - before.cpuMs) / seconds,
    callsOfLast: (after.calls - before.calls) / seconds,
    heldUpShare,
  };
  const p95Ms = (1_000 * quantile(took, 0.95)).toFixed(0);
  say(`${side}: ${sales.length} sales, p95 ${p95Ms} ms; the last shop: ${figures.callsOfLast.toFixed(2)} calls/s`);
  return { figures, ofLast };
}

/** The sales of the last shop end by themselves once the service is well again. */
async function untilOver({ tills }: BusySetting, begun: readonly Promise<Sold>[]): Promise<BusyFigures["waiting"]> {
  const startedMs = performance.now();
  // Those that a till still waits for have begun, too.
  const sales = await Promise.all(begun);
  await Promise.all(sales.map((sale) => tills.ended(sale)));
  const secondsToEnd = (performance.now() - startedMs) / 1_000;
  return { sales: sales.length, secondsToEnd };
}
