import { expect, test } from "vitest";

import { inParallel, stopOnSignals } from "./context.ts";

test("a first signal asks a process to stop, another within half a second is ignored, and a later one ends it at once", () => {
  const exits: number[] = [];
  let nowMs = 1_000;
  const { signal, receive } = stopOnSignals(
    (exitCode) => exits.push(exitCode),
    () => nowMs,
  );
  expect(signal.aborted).toBe(false);
  receive("SIGINT");
  expect(signal.aborted).toBe(true);
  nowMs += 499;
  receive("SIGINT");
  receive("SIGTERM");
  expect(exits).toEqual([]);
  nowMs += 1;
  receive("SIGTERM");
  expect(exits).toEqual([143]);
});

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)("work that %s interrupts ends with %d", (name, exitCode) => {
  const { signal, receive } = stopOnSignals(() => undefined, Date.now);
  receive(name);
  expect(signal.reason).toMatchObject({ name: "InterruptedError", exitCode });
});

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
