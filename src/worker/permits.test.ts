import fc from "fast-check";
import { expect, test } from "vitest";

import { type PollGate, type Permit, Permits } from "./permits.ts";

const NEVER = new AbortController().signal;
const settled = <Result>(promise: Promise<Result>): Promise<Result | "waits"> =>
  Promise.race([promise, new Promise<"waits">((resolve) => setImmediate(() => resolve("waits")))]);

test("one poll is open until a task arrives, then the next one opens", async () => {
  const permits = new Permits(3);
  const first = await permits.take(NEVER);
  const second = permits.take(NEVER);
  expect(await settled(second)).toBe("waits");
  permits.use(first);
  expect(await settled(second)).toMatchObject({ state: "unused" });
});

/** Open polls, with many who want one, after a second in which so many tasks came and were done. */
async function pollsAfter(tasks: number, gate?: PollGate): Promise<{ permits: Permits; clock: { ms: number } }> {
  const clock = { ms: 0 };
  const permits = new Permits(50, gate, () => clock.ms);
  for (let n = 0; n < tasks; n += 1) {
    clock.ms = (1_000 * n) / tasks;
    const permit = await permits.take(NEVER);
    permits.use(permit);
    permits.giveBack(permit);
  }
  for (let n = 0; n < 20; n += 1) void permits.take(NEVER);
  return { permits, clock };
}

test.each([
  [0, 1],
  [3, 1],
  [4, 2],
  [13, 4],
  [200, 10],
])("after %i tasks within a second %i polls are open", async (tasks, polls) => {
  expect((await pollsAfter(tasks)).permits.unused).toBe(polls);
});

test("behind a gate at most four polls are open, since an open poll cannot be withdrawn", async () => {
  const gate = { isOpen: () => true, whenOpen: () => () => undefined };
  expect((await pollsAfter(200, gate)).permits.unused).toBe(4);
});

test("once no more tasks arrive, ended polls are not reopened, except one", async () => {
  const clock = { ms: 0 };
  const permits = new Permits(50, undefined, () => clock.ms);
  for (let n = 0; n < 40; n += 1) permits.use(await permits.take(NEVER));
  const polls = await Promise.all(Array.from({ length: 10 }, () => permits.take(NEVER)));
  expect(permits.unused).toBe(10);
  clock.ms = 2_000;
  for (let n = 0; n < 20; n += 1) void permits.take(NEVER);
  for (const poll of polls) permits.giveBack(poll);
  expect(permits.unused).toBe(1);
});

test("a task that comes without a poll takes a permit beside the open one, while there is room", async () => {
  const permits = new Permits(2);
  await permits.take(NEVER);
  expect(permits.tryTake()).toMatchObject({ state: "unused" });
  expect(permits.tryTake()).toBeUndefined();
});

test("a poll that brings no task gives its permit to the next", async () => {
  const permits = new Permits(3);
  const first = await permits.take(NEVER);
  const second = permits.take(NEVER);
  permits.giveBack(first);
  expect(await settled(second)).toMatchObject({ state: "unused" });
  expect([permits.unused, permits.used]).toEqual([1, 0]);
});

test("permits are given up to the limit, and the next request waits until one is returned", async () => {
  const permits = new Permits(2);
  const first = await permits.take(NEVER);
  permits.use(first);
  permits.use(await permits.take(NEVER));
  const third = permits.take(NEVER);
  expect(await settled(third)).toBe("waits");
  permits.giveBack(first);
  expect(await settled(third)).toMatchObject({ state: "unused" });
});

test("a wait for a permit that is aborted ends with the signal's reason, and does not use another's turn", async () => {
  const permits = new Permits(1);
  const first = await permits.take(NEVER);
  const abort = new AbortController();
  const second = permits.take(abort.signal);
  const third = permits.take(NEVER);
  abort.abort(new Error("not needed"));
  await expect(second).rejects.toBe(abort.signal.reason);
  await expect(permits.take(abort.signal)).rejects.toBe(abort.signal.reason);
  permits.giveBack(first);
  expect(await settled(third)).toMatchObject({ state: "unused" });
});

test("once closed no permit is given, and the close waits for the last poll", async () => {
  const permits = new Permits(2);
  const first = await permits.take(NEVER);
  const abort = new AbortController();
  const second = permits.take(abort.signal);
  permits.close();
  const ended = permits.noneUnused();
  expect(await settled(ended)).toBe("waits");
  permits.use(first);
  expect(await settled(ended)).toBeUndefined();
  permits.giveBack(first);
  expect(await settled(second)).toBe("waits");
  expect(permits.tryTake()).toBeUndefined();
  abort.abort();
  await expect(second).rejects.toBe(abort.signal.reason);
});

test("after random events in random order no more permits are in use than allowed, and none is lost", async () => {
  const step = fc.record({ do: fc.constantFrom("take", "try", "use", "back", "abort", "close"), which: fc.nat(20) });
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 4 }), fc.array(step, { maxLength: 40 }), async (most, steps) => {
      const permits = new Permits(most);
      const given: Permit[] = [];
      const waits: AbortController[] = [];
      for (const { do: what, which } of steps) {
        const permit = given[which % Math.max(1, given.length)];
        const before = given.length;
        const closed = what === "close";
        if (closed) permits.close();
        if (what === "take") {
          const wait = new AbortController();
          waits.push(wait);
          permits.take(wait.signal).then(
            (one) => given.push(one),
            () => undefined,
          );
        }
        if (what === "try") {
          const one = permits.tryTake();
          if (one) given.push(one);
        }
        if (what === "use" && permit) permits.use(permit);
        if (what === "back" && permit) permits.giveBack(permit);
        if (what === "abort") waits[which % Math.max(1, waits.length)]?.abort();
        await Promise.resolve();
        expect(given.length).toBeLessThanOrEqual(closed ? before : given.length);
        const count = (state: Permit["state"]) => given.filter((one) => one.state === state).length;
        expect(permits.unused + permits.used).toBeLessThanOrEqual(most);
        expect({ unused: permits.unused, used: permits.used }).toEqual({
          unused: count("unused"),
          used: count("used"),
        });
      }
    }),
  );
});

test("while the gate is shut no permit is given; when it opens, the first waiting request gets one", async () => {
  const gate = { open: false, listeners: [] as (() => void)[], ended: 0 };
  const permits = new Permits(3, {
    isOpen: () => gate.open,
    whenOpen: (listener) => {
      gate.listeners.push(listener);
      return () => (gate.ended += 1);
    },
  });
  const first = permits.take(NEVER);
  const second = permits.take(NEVER);
  expect(await settled(first)).toBe("waits");
  expect(permits.tryTake()).toBeUndefined();
  expect(gate.listeners).toHaveLength(1);
  gate.open = true;
  gate.listeners[0]?.();
  expect(await settled(first)).toMatchObject({ state: "unused" });
  expect(await settled(second)).toBe("waits");
});

test("a close ends the wait at the gate, and an opening after it gives no permit", async () => {
  const gate = { open: false, listeners: [] as (() => void)[], ended: 0 };
  const permits = new Permits(3, {
    isOpen: () => gate.open,
    whenOpen: (listener) => {
      gate.listeners.push(listener);
      return () => (gate.ended += 1);
    },
  });
  const first = permits.take(NEVER);
  permits.close();
  expect(gate.ended).toBe(1);
  gate.open = true;
  gate.listeners[0]?.();
  expect(await settled(first)).toBe("waits");
});
