import { say, secondsSinceStart } from "../stack/progress.ts";
import { chosen, type Phase, phases as allPhases } from "./lanes.ts";
import { type BudgetOptions, readOptions, USAGE } from "./options.ts";
import { budgetTable } from "./report/budget-table.ts";
import { medians } from "./report/medians.ts";
import { writeResults } from "./report/write-results.ts";
import { redisAtHand, type RedisServer } from "./rivals/redis-server.ts";
import { type RunResult, runOnce } from "./run-once.ts";

/** `npm run bench:budget`: how the product, and other ways at hand, use the request budget of an application. */
const REAL_WINDOW = { windowMs: 60_000, windows: 10, limit: 120, runs: 1 } as const;

async function measure(
  name: string,
  options: BudgetOptions,
  phases: readonly Phase[],
  redis: RedisServer | undefined,
  signal: AbortSignal,
): Promise<void> {
  const runs: RunResult[] = [];
  for (let run = 0; run < options.runs; run += 1) {
    say(`${name}: run ${run + 1} of ${options.runs}, seed ${options.seed + run}`);
    runs.push(await runOnce({ ...options, seed: options.seed + run }, phases, redis, signal));
  }
  const summary = medians(runs);
  process.stdout.write(`\n${budgetTable(summary)}\n\n`);
  const paths = await writeResults(name, { options, summary, runs, seconds: secondsSinceStart() });
  process.stdout.write(`Seed ${options.seed}; written: ${paths.join(", ")}\n`);
}

async function main(options: BudgetOptions, signal: AbortSignal): Promise<void> {
  const redis = await redisAtHand(process.env);
  if (!redis) say("no Redis server at hand (REDIS_URL, or redis-server on the PATH): BullMQ is left out");
  try {
    const phases = allPhases(redis !== undefined);
    await measure("budget", options, chosen(phases, options), redis, signal);
    if (!options.full || options.only.length > 0) return;
    const real = { ...options, ...REAL_WINDOW, only: ["mixed"] };
    await measure("budget-real-minute", real, chosen(phases, real), redis, signal);
  } finally {
    await redis?.stop();
  }
}

const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.once(signal, () => stop.abort(new Error(`ended by ${signal}`)));
const options = optionsOrUsage();
if (options) {
  const { bound } = options;
  const timer = setTimeout(() => stop.abort(new Error(`not done after ${bound / 60_000} minutes`)), bound);
  try {
    await main(options, stop.signal);
  } catch (error) {
    fail(stop.signal.aborted ? stop.signal.reason : error);
  } finally {
    clearTimeout(timer);
  }
}

function optionsOrUsage(): BudgetOptions | undefined {
  try {
    return readOptions(process.argv.slice(2));
  } catch (error) {
    fail(error);
    process.stderr.write(`\n${USAGE}\n`);
    return undefined;
  }
}

function fail(error: unknown): void {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exitCode = 1;
}
