import { expect, test } from "vitest";

import { beyondLimits, type Figures } from "./limits.ts";

const WELL: Figures = {
  sales: 1_000,
  openingSeconds: 50,
  workerMb: 340,
  workerCpuMsPerSecond: 20,
  temporalCpuMsPerSecond: 10,
  temporalMb: 400,
  pollsPerSecond: 1,
  readySeconds: 1.8,
  restartedMb: 200,
  recoverySeconds: 30,
  recoveryCpuMs: 50,
  largestMb: 350,
  tillSeconds: 2,
};

test("figures of two sizes within their limits are fine", () => {
  expect(beyondLimits([WELL, { ...WELL, sales: 10_000, recoverySeconds: 330 }])).toEqual([]);
});

test.each<[string, Partial<Figures>]>([
  ["with 10000 open sales the worker took 601 MB (600)", { largestMb: 601 }],
  ["with 10000 open sales the worker served after 2.6 s (2.5)", { readySeconds: 2.6 }],
  ["recovery grows by the power of 1.11 (1.05)", { recoverySeconds: 390 }],
])("says that %s", (said, figures) => {
  const large = { ...WELL, sales: 10_000, recoverySeconds: 300, ...figures };
  expect(beyondLimits([WELL, large])).toEqual([said]);
});
