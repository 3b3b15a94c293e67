import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";

import { Buttons } from "./drive/buttons.ts";
import { Freezer } from "./drive/freezer.ts";
import { Killer } from "./drive/killer.ts";
import { Outages } from "./drive/outages.ts";
import { runStorm } from "./drive/storm.ts";
import { faultOptions } from "./options.ts";
import { planButtons } from "./plan/button-plan.ts";
import { CALLBACK_FAULTS, DISTURBANCES } from "./plan/disturbances.ts";
import { planKills } from "./plan/kill-plan.ts";
import { SalePlan } from "./plan/sale-plan.ts";
import { type Evidence, gatherEvidence } from "./reckoning/evidence.ts";
import { INVARIANTS } from "./reckoning/invariants.ts";
import { type FaultStack, startFaultStack } from "./stack/fault-stack.ts";
import { figuresOf, tell } from "./table.ts";

const MINUTE_MS = 60_000;

describe("sales through faults, kills, frozen workers and every button of an operator", () => {
  const options = faultOptions(process.env);
  const { seed, sales, kills, freezes, buttons: presses, outages, pgbouncer, encrypted, full } = options;
  const longestMs = (full ? 60 : 20) * MINUTE_MS;
  let stack: FaultStack | undefined;
  let evidence: Evidence;

  beforeAll(
    async () => {
      process.stderr.write(
        `FAULTS_SEED=${seed} FAULTS_SALES=${sales} FAULTS_KILLS=${kills} FAULTS_BUTTONS=${presses} FAULTS_FREEZES=${freezes} FAULTS_OUTAGES=${outages} FAULTS_PGBOUNCER=${Number(pgbouncer)} FAULTS_ENCRYPTED=${Number(encrypted)} npm run test:faults\n`,
      );
      const killer = new Killer(planKills(seed, kills), seed);
      const freezer = new Freezer(freezes, seed);
      const buttons = new Buttons(planButtons(seed, presses), seed);
      stack = await startFaultStack({
        seed,
        // Two may stand still at a time, and of those that serve one may be killed.
        workers: 5,
        keep: options.keep,
        pgbouncer,
        encrypted,
        onBoundary: (seat, operation, at) => killer.onBoundary(seat, operation, at),
        onConnection: (seat) => freezer.onConnection(seat),
      });
      const storm = await runStorm({
        stack,
        seed,
        plan: new SalePlan({ seed, faults: true, lastForEver: sales / 2 }),
        sales,
        atOnce: full ? 50 : 30,
        killer,
        freezer,
        buttons,
        outages: new Outages(outages),
        randomFaults: true,
        patienceMs: 2 * MINUTE_MS,
        longestMs,
      });
      evidence = await gatherEvidence(stack, storm);
      await tell(figuresOf(evidence, seed), "test-results/faults.json");
    },
    longestMs + 2 * MINUTE_MS,
  );

  let failed = false;
  afterEach(({ task }) => {
    failed ||= task.result?.state === "fail";
  });
  afterAll(async () => {
    // The next run of the same seed may take another course.
    await stack?.close(options.keep || failed || evidence === undefined);
    process.stderr.write(`FAULTS_SEED=${seed}\n`);
  });

  test.each(Object.entries(INVARIANTS))("%s", (_, findings) => {
    const found = findings(evidence);
    // With the findings themselves: of an array that differs, a report says only how long it is.
    expect(found, found.slice(0, 5).join("\n")).toEqual([]);
  });

  test("the simulated shop and operator met no unexpected error", () => {
    expect(evidence.storm.problems).toEqual([]);
  });

  test("as many sales, callers, kills, freezes, buttons and kinds of faults occurred as were planned", () => {
    expect(evidence.storm.sales.size).toBeGreaterThanOrEqual(sales);
    expect(evidence.storm.callers.outcomes.size).toBeGreaterThanOrEqual(Math.floor(sales / 4));
    expect(evidence.storm.callers.states).toBeGreaterThan(sales);
    expect(evidence.storm.killsLeft).toBe(0);
    expect(evidence.storm.freezes).toBe(freezes);
    expect(evidence.storm.outagesLeft).toBe(0);
    expect(Object.keys(evidence.storm.buttons?.pressed ?? {}).toSorted()).toEqual(
      [...new Set(planButtons(seed, presses))].toSorted(),
    );
    const kinds = [...DISTURBANCES, ...CALLBACK_FAULTS].map(({ kind }) => kind);
    expect(Object.keys(evidence.books.faults.byKind)).toEqual(expect.arrayContaining(kinds));
  });

  test("no process of the product ended by itself", () => {
    expect(evidence.endedByThemselves, evidence.endedByThemselves.join("\n")).toEqual([]);
  });
});
