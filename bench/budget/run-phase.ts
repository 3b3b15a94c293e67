import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { type ScriptProcess, spawnScript } from "../stack/spawn-script.ts";
import { say } from "../stack/progress.ts";
import type { BenchStack } from "../stack/start-stack.ts";
import { keysOf } from "./businesses.ts";
import type { Documents } from "./documents.ts";
import type { Lane, Phase } from "./lanes.ts";
import { awayAndBack, cutAndRestore, LEAST_WINDOWS, type LedgerLine } from "./ledger-line.ts";
import { bullmqEngine } from "./load/bullmq-engine.ts";
import type { Engine } from "./load/engine.ts";
import { temporalEngine } from "./load/temporal-engine.ts";
import { judgeLane, type JudgedLane } from "./measure/judge-lane.ts";
import type { BudgetOptions } from "./options.ts";
import type { RivalOrders } from "./rivals/orders.ts";
import type { RedisServer } from "./rivals/redis-server.ts";
import { runLane } from "./run-lane.ts";

export interface PhaseSetting {
  readonly phase: Phase;
  readonly stack: BenchStack;
  readonly documents: Documents;
  readonly options: BudgetOptions;
  readonly redis: RedisServer | undefined;
  /** Ends everything early. */
  readonly signal: AbortSignal;
  readonly onLost: (error: Error) => void;
  /** Of the product's processes, where the phase cuts it. */
  readonly ledgerLine: LedgerLine | undefined;
}

const RIVAL = fileURLToPath(new URL("rivals/worker.js", import.meta.url));
const RIVAL_PROCESSES = 3;
/** Before the first window that counts: processes learn the limit, backlogs are filled. */
const WARM_UP_WINDOWS = 0.6;
/** What is under way at the end of the last window is answered within this. */
const AFTER_MS = 500;

/** Runs the lanes of a phase side by side, over the same windows. The product's processes are there already. */
export async function runPhase(setting: PhaseSetting): Promise<JudgedLane[]> {
  const { phase, stack, options, signal } = setting;
  const { lanes } = phase;
  const { windowMs, limit } = options;
  const windows = setting.ledgerLine ? Math.max(options.windows, LEAST_WINDOWS) : options.windows;
  const { simulator } = stack;
  const rivals = await startRivals(setting);
  simulator.resetCalls();
  const fromMs = Math.ceil(Date.now() / windowMs + WARM_UP_WINDOWS) * windowMs;
  const toMs = fromMs + windows * windowMs;
  say(`${lanes.map(({ name }) => name).join(", ")}: ${windows} windows from ${new Date(fromMs).toISOString()}`);
  const over = new AbortController();
  const running = Promise.all(
    lanes.map((lane, index) =>
      runLane({
        ...setting,
        ...options,
        lane,
        engine: engineOf(lane, setting),
        serviceUrl: simulator.url,
        seed: options.seed + 100 * index,
        signal: over.signal,
      }),
    ),
  );
  try {
    const early = AbortSignal.any([signal, over.signal]);
    const time = delay(toMs + AFTER_MS - Date.now(), undefined, { signal: early });
    const cut = setting.ledgerLine ? cutAndRestore(setting.ledgerLine, fromMs, windowMs, early) : undefined;
    await Promise.race([Promise.all([time, cut]), running.then(() => time)]);
  } finally {
    over.abort();
  }
  const calls = simulator.calls();
  const counted = simulator.books().windows;
  const jobs = await running;
  for (const rival of rivals) await rival.stop();
  return lanes.flatMap((lane, index) => {
    const judgeSpan = (from: number, to: number): JudgedLane =>
      judgeLane({ lane, jobs: jobs[index] ?? [], calls, windows: counted, limit, windowMs, fromMs: from, toMs: to });
    return setting.ledgerLine ? awayAndBack(judgeSpan, { fromMs, toMs, windowMs }) : [judgeSpan(fromMs, toMs)];
  });
}

function engineOf(lane: Lane, { stack, options, redis }: PhaseSetting): Engine {
  if (lane.runner !== "bullmq") return temporalEngine(stack.client, lane);
  if (!redis) throw new Error("BullMQ needs a Redis server");
  const calls = (options.windows + 4) * options.limit;
  return bullmqEngine(lane, { redisUrl: redis.url, prefix: redis.prefix, calls });
}

async function startRivals({ phase, stack, options, redis, onLost }: PhaseSetting): Promise<ScriptProcess[]> {
  const lanes = phase.lanes
    .filter(({ runner }) => runner !== "product")
    .map((lane) => ({ name: lane.name, runner: lane.runner, apiKey: keysOf(lane).join() }));
  if (lanes.length === 0) return [];
  const orders: RivalOrders = {
    serviceUrl: stack.simulator.url,
    temporalAddress: stack.temporalAddress,
    redis,
    limit: options.limit,
    windowMs: options.windowMs,
    lanes,
  };
  const processes: ScriptProcess[] = [];
  for (let index = 0; index < RIVAL_PROCESSES; index += 1) {
    const process = await spawnScript(RIVAL, orders, onLost);
    stack.onClose(() => process.stop());
    processes.push(process);
  }
  return processes;
}
