import { expect, test } from "vitest";

import { inParallel } from "./in-parallel.ts";

test("inParallel keeps the order of the results, and its limit of concurrent work", async () => {
  let busy = 0;
  let most = 0;
  const results = await inParallel([5, 1, 4, 2, 3], 2, async (value, index) => {
    busy += 1;
    most = Math.max(most, busy);
    for (let turn = 0; turn < value; turn += 1) await Promise.resolve();
    busy -= 1;
    return `${index}:${value}`;
  });
  expect(results).toEqual(["0:5", "1:1", "2:4", "3:2", "4:3"]);
  expect(most).toBe(2);
});

test("inParallel starts no more work once it is interrupted", async () => {
  const stop = new AbortController();
  const taken: number[] = [];
  await inParallel(
    [1, 2, 3],
    1,
    async (value) => {
      taken.push(value);
      if (value === 2) stop.abort();
    },
    stop.signal,
  );
  expect(taken).toEqual([1, 2]);
});
