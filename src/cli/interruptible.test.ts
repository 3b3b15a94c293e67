import { expect, test } from "vitest";

import { stopOnSignals } from "./interruptible.ts";

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
