import { expect, test } from "vitest";

import { BOUNDARIES, planKills } from "./kill-plan.ts";
import { OPERATIONS } from "./disturbances.ts";
import { SalePlan } from "./sale-plan.ts";
import { SHAPES } from "./shapes.ts";

function sales(seed: number, count: number) {
  const plan = new SalePlan({ seed, faults: true, lastForEver: count });
  return Array.from({ length: count }, () => plan.next());
}

test("a fault plan is the same for the same seed, and differs for another", () => {
  expect(sales(7, 60)).toEqual(sales(7, 60));
  expect(planKills(7, 30)).toEqual(planKills(7, 30));
  expect(sales(8, 60).map(({ shape }) => shape)).not.toEqual(sales(7, 60).map(({ shape }) => shape));
});

test("a fault plan of CI's size has every shape of sale, faults on every operation, and a kill at every boundary", () => {
  const planned = sales(7, 110);
  expect(new Set(planned.map(({ shape }) => shape)).size).toBe(SHAPES.length);
  expect(new Set(planned.flatMap(({ faults }) => faults.map(({ operation }) => operation)))).toEqual(
    new Set(OPERATIONS),
  );
  const kills = planKills(7, 26).flatMap((kill) =>
    kill.kill === "worker-at-call" ? [`${kill.operation} ${kill.at}`] : [],
  );
  expect(new Set(kills).size).toBe(OPERATIONS.length * BOUNDARIES.length);
});

test("a fault plan uses no number twice", () => {
  expect(new Set(sales(3, 500).map(({ number }) => number)).size).toBe(500);
});
