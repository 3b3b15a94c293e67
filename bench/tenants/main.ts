import { median } from "../budget/measure/statistics.ts";
import { ProductFleet } from "../stack/product-fleet.ts";
import { say } from "../stack/progress.ts";
import { installQuietRuntime } from "../stack/quiet-runtime.ts";
import { type BenchStack, startStack } from "../stack/start-stack.ts";
import { table } from "../stack/table.ts";
import { writeFigures } from "../stack/write-figures.ts";
import { type BusyFigures, busyFigures } from "./busy.ts";
import { type IdleFigures, idleFigures } from "./idle.ts";
import { beyondLimits, type BusyResult } from "./limits.ts";
import { readOptions, type TenantsOptions, USAGE } from "./options.ts";
import { Tills } from "./sell.ts";
import { KeyFiles, scenarioOf, type Shop, shopsOf } from "./shops.ts";

/**
 * `npm run bench:tenants`: what many connections take of a worker process that has nothing to do, and whether one whose
 * service fails, or whose key is replaced, is felt by the others. Ends with 1 where a figure is beyond its limit.
 */
interface IdleResult {
  readonly connections: number;
  readonly runs: readonly IdleFigures[];
}

/** What people see of the real service is 100 to 400 ms. */
const LATENCY_MS = 100;
/** As the provider documents it. */
const LIMIT_PER_WINDOW = 120;
/** The looks of each minute are in it. */
const IDLE_SECONDS = 60;

const IDLE_HEAD = [
  "connections",
  "worker MB",
  "worker ms/s",
  "Temporal ms/s",
  "Temporal MB",
  "open polls",
  "polls/s",
  "requests/s",
  "transactions/s",
  "database connections",
];
const BUSY_HEAD = [
  "processes",
  "p95 ms, all well",
  "p95 ms, one in trouble",
  "ratio",
  "medians ms",
  "sales",
  "without receipt",
  "worker ms/s",
  "calls/s of the one",
  "held up %",
  "its waiting sales ended after s",
  "worker MB",
];
const ROTATION_HEAD = ["processes", "sales at the rotated key", "calls refused", "parked", "restarts"];

function idleRow({ connections, runs }: IdleResult): string[] {
  const of = (figure: (one: IdleFigures) => number): number => median(runs.map(figure));
  return [
    String(connections),
    String(of((one) => one.residentMb)),
    of((one) => one.cpuMsPerSecond).toFixed(1),
    of((one) => one.temporalCpuMsPerSecond).toFixed(1),
    String(of((one) => one.temporalResidentMb)),
    String(of((one) => one.openPolls)),
    of((one) => one.pollsPerSecond).toFixed(2),
    of((one) => one.requestsPerSecond).toFixed(2),
    of((one) => one.transactionsPerSecond).toFixed(2),
    String(of((one) => one.databaseConnections)),
  ];
}

function busyRow({ processes, runs }: BusyResult): string[] {
  const of = (figure: (one: BusyFigures) => number): number => median(runs.map(figure));
  const ms = (figure: (one: BusyFigures) => number): string => (1_000 * of(figure)).toFixed(0);
  return [
    String(processes),
    ms((one) => one.well.p95Seconds),
    ms((one) => one.troubled.p95Seconds),
    of((one) => one.ratio).toFixed(2),
    `${ms((one) => one.well.medianSeconds)}, ${ms((one) => one.troubled.medianSeconds)}`,
    String(of((one) => one.troubled.sales)),
    String(sum(runs, (one) => one.well.withoutReceipt + one.troubled.withoutReceipt)),
    `${of((one) => one.well.workerCpuMsPerSecond).toFixed(0)}, ${of((one) => one.troubled.workerCpuMsPerSecond).toFixed(0)}`,
    `${of((one) => one.well.callsOfLast).toFixed(2)}, ${of((one) => one.troubled.callsOfLast).toFixed(2)}`,
    `${(100 * of((one) => one.well.heldUpShare)).toFixed(1)}, ${(100 * of((one) => one.troubled.heldUpShare)).toFixed(1)}`,
    of((one) => one.waiting.secondsToEnd).toFixed(0),
    runs.flatMap((one) => one.residentMb).join(", "),
  ];
}

function sum<One>(all: readonly One[], figure: (one: One) => number): number {
  return all.reduce((total, one) => total + figure(one), 0);
}

async function main(options: TenantsOptions): Promise<void> {
  installQuietRuntime();
  const shops = shopsOf(options.shops);
  const idle: IdleResult[] = [];
  const busy: BusyResult[] = [];
  let restarts = 0;
  say("starting Temporal, the ledger and the simulator");
  const scenario = scenarioOf(shops);
  const stack = await startStack({ scenario, limitPerWindow: LIMIT_PER_WINDOW, latencyMs: LATENCY_MS });
  try {
    const keys = await KeyFiles.write(stack, shops);
    const tills = new Tills(stack.client, shops);
    const onLost = (): void => void (restarts += 1);
    const open = (served: readonly Shop[], processes: number, env: Record<string, string> = {}) =>
      openFleet({ stack, keys, served, processes, env, onLost });
    for (const connections of options.only.includes("idle") ? [1, options.shops] : []) {
      const runs: IdleFigures[] = [];
      for (let run = 1; run <= options.runs; run += 1) {
        say(`idle, ${connections} connections, run ${run}`);
        runs.push(await idleFigures(stack, (env) => open(shops.slice(0, connections), 1, env), IDLE_SECONDS));
      }
      idle.push({ connections, runs });
    }
    for (const processes of options.only.includes("busy") ? options.processes : []) {
      const runs: BusyFigures[] = [];
      for (let run = 1; run <= options.runs; run += 1) {
        say(`busy, ${options.shops} connections in ${processes} processes, run ${run}`);
        const fleet = await open(shops, processes);
        try {
          runs.push(await busyFigures({ stack, fleet, keys, shops, tills, options }));
        } finally {
          await fleet.stop();
        }
      }
      busy.push({ processes, runs });
    }
  } finally {
    await stack.close();
  }
  const rotations = busy.map(({ processes, runs }) => [
    String(processes),
    String(sum(runs, (one) => one.rotation.sales)),
    String(sum(runs, (one) => one.rotation.refused)),
    String(sum(runs, (one) => one.rotation.parked)),
    String(restarts),
  ]);
  if (idle.length > 0) process.stdout.write(`\n${table(IDLE_HEAD, idle.map(idleRow))}\n`);
  if (busy.length > 0)
    process.stdout.write(`\n${table(BUSY_HEAD, busy.map(busyRow))}\n\n${table(ROTATION_HEAD, rotations)}\n`);
  const { outFolder, ...told } = options;
  const figures = { "tenants-idle": idle, "tenants-busy": busy };
  for (const [name, results] of Object.entries(figures)) {
    if (results.length === 0) continue;
    const path = await writeFigures(outFolder, name, { options: told, restarts, results });
    process.stdout.write(`\nMedians of ${options.runs}, written: ${path}\n`);
  }
  const beyond = beyondLimits(busy, restarts);
  for (const one of beyond) process.stdout.write(`Beyond its limit: ${one}\n`);
  if (beyond.length > 0) process.exitCode = 1;
}

interface FleetSetting {
  readonly stack: BenchStack;
  readonly keys: KeyFiles;
  readonly served: readonly Shop[];
  readonly processes: number;
  readonly env: Record<string, string>;
  readonly onLost: () => void;
}

function openFleet({ stack, keys, served, processes, env, onLost }: FleetSetting): Promise<ProductFleet> {
  const connections = served.map((shop) => keys.connectionOf(shop));
  const { folder, simulator } = stack;
  const options = { folder, processes, serviceUrl: simulator.url, connections, env: { ...stack.env, ...env } };
  return ProductFleet.start(options, onLost);
}

try {
  await main(readOptions(process.argv.slice(2)));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n\n${USAGE}\n`);
  process.exitCode = 1;
}
