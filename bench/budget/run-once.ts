import { seededRandom } from "../../src/dev/simulator/seeded-random.ts";
import { say } from "../stack/progress.ts";
import { ProductFleet } from "../stack/product-fleet.ts";
import { type BenchStack, startStack } from "../stack/start-stack.ts";
import { startBenchWorker } from "./bench-worker.ts";
import { connectionsOf, keysOf, scenarioOf } from "./businesses.ts";
import { Documents } from "./documents.ts";
import { type LedgerLine, openLedgerLine } from "./ledger-line.ts";
import { type Lane, LONE, type Phase, PROCESSES, UNLIMITED } from "./lanes.ts";
import { type LoneFigures, lonePairs } from "./lone-sales.ts";
import type { JudgedLane } from "./measure/judge-lane.ts";
import type { BudgetOptions } from "./options.ts";
import type { RedisServer } from "./rivals/redis-server.ts";
import { runPhase } from "./run-phase.ts";

export interface RunResult {
  readonly lone: LoneFigures | undefined;
  readonly lanes: readonly JudgedLane[];
}

/**
 * Of the service, on each call: what people see of the real one is 100 to 400 ms, and the window here is a third of
 * its.
 */
const LATENCY_MS = 100;

/** All phases once, on servers of their own. */
export async function runOnce(
  options: BudgetOptions,
  phases: readonly Phase[],
  redis: RedisServer | undefined,
  outerSignal: AbortSignal,
): Promise<RunResult> {
  const lanes = phases.flatMap((phase) => phase.lanes);
  const withLone = options.only.length === 0 || options.only.includes(LONE);
  const lost = new AbortController();
  const signal = AbortSignal.any([outerSignal, lost.signal]);
  const onLost = (error: Error): void => lost.abort(error);
  const { limit, windowMs, seed } = options;
  say("starting Temporal, the ledger and the simulator");
  const stack = await startStack({
    scenario: scenarioOf(lanes),
    limitPerWindow: limit,
    windowMs,
    latencyMs: LATENCY_MS,
    seed,
  });
  try {
    await startBenchWorker(stack);
    const documents = new Documents(stack.simulator);
    const fleets = new Fleets(stack, lanes, withLone, onLost);

    let lone: LoneFigures | undefined;
    if (withLone) {
      await fleets.be(PROCESSES);
      lone = await lonePairs(stack, options.pairs, seededRandom(seed), signal);
    }
    const judged: JudgedLane[] = [];
    for (const phase of phases) {
      signal.throwIfAborted();
      const ledgerLine = phase.ledgerCut ? await openLedgerLine(stack) : undefined;
      await fleets.be(phase.processes, ledgerLine);
      judged.push(...(await runPhase({ phase, stack, documents, options, redis, signal, onLost, ledgerLine })));
    }
    return { lone, lanes: judged };
  } catch (error) {
    throw lost.signal.aborted ? lost.signal.reason : error;
  } finally {
    await stack.close();
  }
}

/** The product's processes: so many at a time as a phase wants, and the same ones as long as that does not change. */
class Fleets {
  readonly #stack: BenchStack;
  readonly #lanes: readonly Lane[];
  readonly #withLone: boolean;
  readonly #onLost: (error: Error) => void;
  #fleet: { readonly processes: number; readonly line: LedgerLine | undefined; running: ProductFleet } | undefined;

  constructor(stack: BenchStack, lanes: readonly Lane[], withLone: boolean, onLost: (error: Error) => void) {
    this.#stack = stack;
    this.#lanes = lanes;
    this.#withLone = withLone;
    this.#onLost = onLost;
    stack.onClose(async () => this.#fleet?.running.stop());
  }

  async be(processes: number, line?: LedgerLine): Promise<void> {
    if (this.#fleet?.processes === processes && this.#fleet.line === line) return;
    await this.#fleet?.running.stop();
    this.#fleet = undefined;
    if (processes === 0) return;
    say(`starting ${processes} worker processes of the product`);
    const { folder, simulator, env } = this.#stack;
    const served = this.#lanes.filter((lane) => lane.runner === "product" && lane.processes === processes);
    const lone = this.#withLone && processes === PROCESSES ? [LONE, UNLIMITED] : [];
    const connections = [...served, ...lone.map((name) => ({ name }))].flatMap((lane) => {
      const keys = keysOf(lane);
      return connectionsOf(lane).map((name, index) => ({ name, application: lane.name, apiKey: keys[index] ?? "" }));
    });
    const options = { folder, processes, serviceUrl: simulator.url, connections, env: { ...env, ...line?.env } };
    this.#fleet = { processes, line, running: await ProductFleet.start(options, this.#onLost) };
  }
}
