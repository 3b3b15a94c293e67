import { afterEach, expect, test } from "vitest";

import { runStorm } from "./drive/storm.ts";
import { faultOptions } from "./options.ts";
import { SalePlan } from "./plan/sale-plan.ts";
import { SHAPES } from "./plan/shapes.ts";
import { type Evidence, gatherEvidence } from "./reckoning/evidence.ts";
import { INVARIANTS } from "./reckoning/invariants.ts";
import { type Breakage, brokenBuild } from "./stack/broken-build.ts";
import { BUILT_MAIN, startFaultStack } from "./stack/fault-stack.ts";

/**
 * The rule of the failure model that keeps a lost stock movement from being sent again: now it says that nothing
 * happened.
 */
const TIMEOUT_CALLED_TRANSIENT: Breakage = {
  file: "dist/src/compliance/classify.js",
  text: `!== "answer") return { kind: "unknown" }`,
  becomes: `!== "answer") return { kind: "not-applied" }`,
};

const SALES = 6;
const LONGEST_MS = 120_000;
const { seed } = faultOptions(process.env);
const cleanup: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const undo of cleanup.splice(0).toReversed()) await undo();
});

/** A few sales, of each of which the answer to a stock movement is lost once. */
async function stormOn(main: string): Promise<Evidence> {
  const stack = await startFaultStack({ seed, workers: 1, main });
  cleanup.push(() => stack.close());
  const operation = "adjustStock";
  for (let n = 0; n < SALES / 2; n += 1) {
    stack.simulator.inject({ operation, when: "after", kind: "drop", times: 1 });
    stack.simulator.inject({ operation, when: "after", kind: "slow", delayMs: 3_000, times: 1 });
  }
  const shapes = SHAPES.filter(({ name }) => name === "accepted-at-once");
  const plan = new SalePlan({ seed, faults: false, lastForEver: 0, shapes });
  const bounds = { patienceMs: LONGEST_MS, longestMs: LONGEST_MS };
  const storm = await runStorm({ stack, seed, plan, sales: SALES, atOnce: SALES, randomFaults: false, ...bounds });
  return await gatherEvidence(stack, storm);
}

function violated(evidence: Evidence): string[] {
  return Object.entries(INVARIANTS).flatMap(([name, findings]) => (findings(evidence).length > 0 ? [name] : []));
}

test("a build that sends a lost stock movement again violates the invariants", async () => {
  const build = await brokenBuild(TIMEOUT_CALLED_TRANSIENT);
  cleanup.push(() => build.remove());
  const evidence = await stormOn(build.main);
  expect(violated(evidence)).toContain("no stock movement was applied twice");
  expect(INVARIANTS["no stock movement was applied twice"]?.(evidence)).toHaveLength(SALES);
});

test("the same faults violate no invariant in the real build", async () => {
  const evidence = await stormOn(BUILT_MAIN);
  expect(violated(evidence)).toEqual([]);
  expect(evidence.storm.attentions.map(({ code }) => code)).toEqual(Array(SALES).fill("stock-unknown"));
});
