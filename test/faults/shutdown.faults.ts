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
/** Longer than an attempt takes: what was handed out longer before was answered before its worker was told to stop. */
const ATTEMPT_MS = 5_000;

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

  /**
   * Attempts without an answer. A server that is slow for a second counts a task as handed out that no poll received
   * (temporalio/temporal, issue 11733): one that a worker should have had which nobody told to stop is not the drain's.
   */
  const lostAttempts = () =>
    evidence.chronicles.flatMap(({ workflowId, timeouts }) =>
      timeouts.map(({ type, handedOut }) => {
        const isDrains =
          handedOut === undefined ||
          drains.some(
            ({ pid, fromMs, toMs }) =>
              handedOut.worker.includes(`-${pid}-`) &&
              handedOut.atMs > fromMs - ATTEMPT_MS &&
              handedOut.atMs < toMs + LOOK_MS,
          );
        return { workflowId, type, handedOut, by: isDrains ? "a drain" : "Temporal" };
      }),
    );

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
      "tasks that Temporal handed to nobody": lostAttempts().filter(({ by }) => by === "Temporal").length,
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

  test("no task is lost by it: every attempt ends with its worker's answer", () => {
    expect(lostAttempts().filter(({ by }) => by === "a drain")).toEqual([]);
    // More than one would be no accident of the server's.
    expect(lostAttempts().length).toBeLessThanOrEqual(1);
  });

  test.each(Object.entries(INVARIANTS))("%s", (_, findings) => {
    expect(findings(evidence)).toEqual([]);
  });
});
