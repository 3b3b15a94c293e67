import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { runStorm } from "./drive/storm.ts";
import { faultOptions } from "./options.ts";
import { SalePlan } from "./plan/sale-plan.ts";
import { type Evidence, gatherEvidence } from "./reckoning/evidence.ts";
import { INVARIANTS } from "./reckoning/invariants.ts";
import { type FaultStack, startFaultStack } from "./stack/fault-stack.ts";
import { figuresOf, tell } from "./table.ts";

const MINUTE_MS = 60_000;
const LOOK_MS = 50;
/** Long enough that calls are under way at every moment. */
const ANSWER_MS = 120;

/** Which process was stopped, and when: whether a task that is lost had to do with it. */
interface Drain {
  pid: number | undefined;
  fromMs: number;
  toMs: number;
}

describe("workers that are stopped under load", () => {
  const { seed, full, sigterms, keep } = faultOptions(process.env);
  const longestMs = (full ? 30 : 10) * MINUTE_MS;
  const exitCodes: (number | null)[] = [];
  const drains: Drain[] = [];
  let stack: FaultStack | undefined;
  let evidence: Evidence;

  /** One worker after the other, each under load and with the others serving. */
  async function stopWorkers({ workers }: FaultStack, signal: AbortSignal): Promise<void> {
    for (let n = 0; n < sigterms && !signal.aborted; n += 1) {
      while (!signal.aborted && !workers.every(({ serving }) => serving)) await delay(LOOK_MS);
      const worker = workers[n % workers.length];
      const [pid, fromMs] = [worker?.pid, Date.now()];
      exitCodes.push((await worker?.terminate()) ?? null);
      drains.push({ pid, fromMs, toMs: Date.now() });
    }
  }

  beforeAll(async () => {
    process.stderr.write(`FAULTS_SEED=${seed} FAULTS_SIGTERMS=${sigterms} npm run test:faults\n`);
    const running = await startFaultStack({ seed, workers: 2, keep });
    stack = running;
    running.simulator.changeSettings({ latencyMs: ANSWER_MS });
    const storm = await runStorm({
      stack: running,
      seed,
      plan: new SalePlan({ seed, faults: false, lastForEver: 0 }),
      sales: 4 * sigterms,
      atOnce: 20,
      randomFaults: false,
      meanwhile: (signal) => stopWorkers(running, signal),
      patienceMs: MINUTE_MS,
      longestMs,
    });
    evidence = await gatherEvidence(running, storm);
    const drainsMs = drains.map(({ fromMs, toMs }) => toMs - fromMs);
    const medianMs = drainsMs.toSorted((one, other) => one - other)[Math.floor(drainsMs.length / 2)] ?? 0;
    const shutdown = {
      SIGTERMs: drainsMs.length,
      "median of drains, ms": medianMs,
      "longest, ms": Math.max(...drainsMs),
    };
    await tell({ ...figuresOf(evidence, seed), shutdown }, "test-results/faults-shutdown.json");
  }, longestMs + MINUTE_MS);

  afterAll(() => stack?.close());

  test("each drains, and exits with 0", () => {
    expect(exitCodes).toEqual(Array.from({ length: sigterms }, () => 0));
  });

  test("leave no unknown outcome", () => {
    expect(evidence.storm.attentions.filter(({ code }) => code.endsWith("-unknown"))).toEqual([]);
  });

  test("no task is lost: every attempt ends with its worker's answer", () => {
    const lost = evidence.chronicles.flatMap(({ workflowId, timeouts }) =>
      timeouts.map((attempt) => ({ workflowId, ...attempt })),
    );
    expect(lost, `the drains: ${JSON.stringify(drains)}`).toEqual([]);
  });

  test.each(Object.entries(INVARIANTS))("%s", (_, findings) => {
    expect(findings(evidence)).toEqual([]);
  });
});
