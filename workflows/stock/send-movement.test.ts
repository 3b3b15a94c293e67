import { expect, test } from "vitest";

import { Semaphore } from "./apply-movement.ts";

test("a semaphore admits a fixed number at once, in order, and a failure returns its permit", async () => {
  const semaphore = new Semaphore(2);
  const began: number[] = [];
  const ends: ((failed: boolean) => void)[] = [];
  const act = (n: number) => () =>
    new Promise<number>((resolve, reject) => {
      began.push(n);
      ends[n] = (failed) => (failed ? reject(new Error(`${n} failed`)) : resolve(n));
    });
  const taken = [0, 1, 2, 3].map((n) => semaphore.run(act(n)));
  await Promise.resolve();
  expect(began).toEqual([0, 1]);
  ends[1]?.(true);
  await expect(taken[1]).rejects.toThrow("1 failed");
  await expect.poll(() => began).toEqual([0, 1, 2]);
  ends[0]?.(false);
  await expect(taken[0]).resolves.toBe(0);
  const late = semaphore.run(act(4));
  await expect.poll(() => began).toEqual([0, 1, 2, 3]);
  for (const n of [2, 3]) ends[n]?.(false);
  await expect.poll(() => began).toEqual([0, 1, 2, 3, 4]);
  ends[4]?.(false);
  await expect(Promise.all([...taken.slice(2), late])).resolves.toEqual([2, 3, 4]);
});
