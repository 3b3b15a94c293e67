import { median } from "../budget/measure/statistics.ts";
import { say } from "../stack/progress.ts";
import { installQuietRuntime } from "../stack/quiet-runtime.ts";
import { startStack } from "../stack/start-stack.ts";
import { table } from "../stack/table.ts";
import { writeFigures } from "../stack/write-figures.ts";
import { SCENARIO } from "./lanes.ts";
import { type EngineOptions, readOptions, USAGE } from "./options.ts";
import { type LaneResult, runOnce } from "./run-once.ts";

/** `npm run bench:engine`: what the product costs beyond Temporal itself, beside bare workflows with the same calls. */
const NO_LIMIT = 10_000_000;
const THROUGHPUT = [
  "lane",
  "measure",
  "sales/s",
  "slowest ms",
  "worker ms/sale",
  "server ms/sale",
  "worker MB",
  "answers/s",
  "unanswered",
];
const ALONE = ["lane", "ms", "workflow tasks", "activities", "events", "bytes", "largest payload", "billable actions"];

/** Of all runs, figure by figure. */
function medians(runs: readonly LaneResult[][]): LaneResult[] {
  return (runs[0] ?? []).map(({ lane, alone, measures }) => {
    const ofLane = runs.flatMap((run) => run.filter((one) => one.lane === lane));
    return {
      lane,
      alone: alone && eachMedian(ofLane.flatMap((one) => one.alone ?? [])),
      measures: Object.fromEntries(
        Object.keys(measures).map((title) => [title, eachMedian(ofLane.flatMap((one) => one.measures[title] ?? []))]),
      ),
    };
  });
}

function eachMedian<T extends object>(figures: readonly T[]): T {
  const keys = Object.keys(figures[0] ?? {}) as (keyof T)[];
  return Object.fromEntries(keys.map((key) => [key, median(figures.map((one) => Number(one[key])))])) as T;
}

function tables(results: readonly LaneResult[]): string {
  const throughput = results.flatMap(({ lane, measures }) =>
    Object.entries(measures).map(([title, one]) => [
      lane,
      title,
      one.salesPerSecond.toFixed(1),
      one.slowestMs.toFixed(0),
      one.workerCpuMsPerSale.toFixed(0),
      one.serverCpuMsPerSale.toFixed(0),
      String(one.residentMb),
      one.answersPerSecond.toFixed(1),
      String(one.unanswered),
    ]),
  );
  const alone = results.flatMap(({ lane, alone: one }) => {
    if (!one) return [];
    const { ms, workflowTasks, activities, events, bytes, largestPayloadBytes, actions } = one;
    const counts = [workflowTasks, activities, events, bytes, largestPayloadBytes, actions];
    return [[lane, ms.toFixed(0), ...counts.map(String)]];
  });
  return `${table(THROUGHPUT, throughput)}\n\nOne sale alone:\n\n${table(ALONE, alone)}\n`;
}

async function main(options: EngineOptions): Promise<void> {
  installQuietRuntime();
  say("starting Temporal, the ledger and the simulator");
  const stack = await startStack({ scenario: SCENARIO, limitPerWindow: NO_LIMIT });
  const runs: LaneResult[][] = [];
  try {
    for (let run = 1; run <= options.runs; run += 1) {
      say(`run ${run} of ${options.runs}`);
      runs.push(await runOnce(stack, run, options));
    }
  } finally {
    await stack.close();
  }
  const summary = medians(runs);
  process.stdout.write(`\n${tables(summary)}`);
  const path = await writeFigures(options.outFolder, "engine", { options, summary, runs });
  process.stdout.write(`\nMedians of ${options.runs}, written: ${path}\n`);
}

try {
  await main(readOptions(process.argv.slice(2)));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n\n${USAGE}\n`);
  process.exitCode = 1;
}
