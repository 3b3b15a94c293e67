import { expect, test } from "vitest";

import type { BusyFigures } from "./busy.ts";
import { beyondLimits } from "./limits.ts";

const part = (ratio: number, parked = 0, withoutReceipt = 0) =>
  ({ ratio, rotation: { parked }, well: { withoutReceipt: 0 }, troubled: { withoutReceipt } }) as BusyFigures;

test("figures within their limits are fine, whatever one run of three shows", () => {
  expect(beyondLimits([{ processes: 1, runs: [part(0.96), part(1.1), part(1.4)] }], 0)).toEqual([]);
});

test.each<[string, BusyFigures[], number]>([
  ["one process: one in trouble makes the others 1.12 times slower (1.1)", [part(1), part(1.12), part(1.3)], 0],
  ["one process: a new key parked 1 sales (0)", [part(1), part(1, 1)], 0],
  ["one process: 2 sales of well shops got no receipt (0)", [part(1, 0, 2)], 0],
  ["3 processes ended (0)", [part(1)], 3],
])("says that %s", (said, runs, restarts) => {
  expect(beyondLimits([{ processes: 1, runs }], restarts)).toEqual([said]);
});
