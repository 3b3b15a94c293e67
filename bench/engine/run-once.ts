import { fileURLToPath } from "node:url";

import { freePort } from "../../src/servers/start-dev-server.ts";
import { say } from "../stack/progress.ts";
import { spawnScript } from "../stack/spawn-script.ts";
import type { BenchStack } from "../stack/start-stack.ts";
import type { DelayOrders } from "./delay-line.ts";
import { type HistoryCost, historyCost } from "./history-cost.ts";
import { bare, MOST_LINES, product, type Till } from "./lanes.ts";
import { type Load, measure, type Throughput } from "./measure.ts";
import type { EngineOptions } from "./options.ts";

/** What one lane came to: a measure by its name, and one sale alone. */
export interface LaneResult {
  readonly lane: string;
  readonly alone: HistoryCost | undefined;
  readonly measures: Readonly<Record<string, Throughput>>;
}

/** Beside one another: the catalogue is read, code is compiled, connections are open. */
const WARM_UP = 60;
const ALONE = 5;
const SALES_AT_ONCE: readonly (readonly [number, number])[] = [
  [1, 20],
  [10, 100],
  [Infinity, 200],
];
const ASKED = { atOnce: 40, callers: 10 };
const SMALL_ALONE = 100;
const FAR = { atOnce: 200, sales: 400, roundTripMs: 75 };

/** Every lane once, on one server, one worker process at a time. */
export async function runOnce(stack: BenchStack, run: number, options: EngineOptions): Promise<LaneResult[]> {
  const results: LaneResult[] = [];
  let activities = 0;
  const loads = loadsOf(options);
  if (options.only.includes("product")) {
    const result = await runLane(stack, "product", run, product(), loads);
    activities = result.alone?.activities ?? 0;
    results.push(result);
  }
  if (options.only.includes("bare")) results.push(await runLane(stack, "bare, same calls", run, bare(0), loads));
  if (options.only.includes("same") && activities > 2)
    results.push(await runLane(stack, "bare, as many activities", run, bare(activities - 2), loads));
  if (options.only.includes("far")) results.push(...(await runFar(stack, run, options)));
  if (options.only.includes("large")) results.push(...(await runLarge(stack, run)));
  return results;
}

function loadsOf({ atOnce, scale }: EngineOptions): Record<string, Load> {
  const salesOf = (count: number): number =>
    Math.ceil(scale * (SALES_AT_ONCE.find(([most]) => count <= most)?.[1] ?? count));
  return {
    ...Object.fromEntries(atOnce.map((count) => [`${count} at once`, { atOnce: count, sales: salesOf(count) }])),
    [`${ASKED.atOnce} at once, asked`]: { ...ASKED, sales: salesOf(ASKED.atOnce) },
  };
}

/** The same number of open sales, beside the server and far from it. */
async function runFar(stack: BenchStack, run: number, { scale }: EngineOptions): Promise<LaneResult[]> {
  const targetPort = Number(stack.temporalAddress.split(":").at(-1));
  const orders: DelayOrders = { port: await freePort(), targetPort, delayMs: FAR.roundTripMs / 2 };
  const line = await spawnScript(fileURLToPath(new URL("delay-line.js", import.meta.url)), orders, fail);
  const loads = { [`${FAR.atOnce} at once`]: { atOnce: FAR.atOnce, sales: Math.ceil(scale * FAR.sales) } };
  try {
    const far = product({ TEMPORAL_ADDRESS: `127.0.0.1:${orders.port}` });
    return [
      await runLane(stack, "product, beside its server", run, product(), loads),
      await runLane(stack, `product, ${FAR.roundTripMs} ms away`, run, far, loads),
    ];
  } finally {
    await line.stop();
  }
}

/**
 * Small sales one after the other, alone and for as long as a large one goes on; "alone" is the history of the large
 * one.
 */
async function runLarge(stack: BenchStack, run: number): Promise<LaneResult[]> {
  const till = await product()(stack, fail);
  const name = `LARGE-${run}`;
  try {
    await measure(till, stack.temporalPid, `${name}-WARM`, { sales: WARM_UP, atOnce: WARM_UP });
    const alone = await measure(till, stack.temporalPid, `${name}-SMALL`, { sales: SMALL_ALONE, atOnce: 1 });
    const large = till.sell(name, undefined, MOST_LINES);
    const beside = await measure(till, stack.temporalPid, `${name}-BESIDE`, { sales: large, atOnce: 1 });
    await large;
    const cost = await historyCost(stack.client, till.workflowId(name));
    say(
      `small sales: ${alone.salesPerSecond.toFixed(2)}/s alone, ${beside.salesPerSecond.toFixed(2)}/s beside a large one: ` +
        `${(alone.salesPerSecond / beside.salesPerSecond).toFixed(2)} times as long`,
    );
    return [
      {
        lane: `${MOST_LINES} lines`,
        alone: cost,
        measures: { "small sales alone": alone, "small sales beside it": beside },
      },
    ];
  } finally {
    await till.stop();
  }
}

async function runLane(
  stack: BenchStack,
  lane: string,
  run: number,
  open: (stack: BenchStack, onLost: (error: Error) => void) => Promise<Till>,
  loads: Readonly<Record<string, Load>>,
): Promise<LaneResult> {
  const till = await open(stack, fail);
  const name = `${lane.replaceAll(/[^a-z0-9]+/g, "-")}-${run}`.toUpperCase();
  try {
    await measure(till, stack.temporalPid, `${name}-WARM`, { sales: WARM_UP, atOnce: WARM_UP });
    const alone: HistoryCost[] = [];
    for (let n = 0; n < ALONE; n += 1) {
      await till.sell(`${name}-ALONE-${n}`);
      alone.push(await historyCost(stack.client, till.workflowId(`${name}-ALONE-${n}`)));
    }
    const measures: Record<string, Throughput> = {};
    for (const [index, [title, load]] of Object.entries(loads).entries()) {
      const measured = await measure(till, stack.temporalPid, `${name}-${index}`, load);
      measures[title] = measured;
      say(
        `${lane}, ${title}: ${measured.salesPerSecond.toFixed(1)} sales/s, ${measured.workerCpuMsPerSale.toFixed(0)} ms a sale`,
      );
    }
    return { lane, alone: alone.toSorted((one, other) => one.ms - other.ms)[Math.floor(ALONE / 2)], measures };
  } finally {
    await till.stop();
  }
}

/** A process that ends by itself in the middle of a measure makes it void. */
function fail(error: Error): never {
  throw error;
}
