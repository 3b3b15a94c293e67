import fc from "fast-check";
import { expect, onTestFinished, test, vi } from "vitest";

import { SignalPace, type SignalOutcome } from "./temporal-signaller.ts";

const DAY_MS = 86_400_000;

function pacing(options: { remembered?: number; longestPauseMs?: number } = {}) {
  vi.useFakeTimers({ now: 1_700_000_000_000 });
  onTestFinished(() => void vi.useRealTimers());
  const sent: { workflowId: string; event?: string; atMs: number }[] = [];
  const temporal = { answer: (): Promise<SignalOutcome> => Promise.resolve("delivered") };
  const beganMs = Date.now();
  const pace = new SignalPace({
    signal(workflowId, event) {
      sent.push({ workflowId, ...(event !== undefined && { event }), atMs: Date.now() - beganMs });
      return temporal.answer();
    },
    ...options,
  });
  return { pace, sent, temporal, atMs: () => sent.map(({ atMs }) => atMs) };
}

test("a workflow gets its first callback at once, and those that follow with pauses that double", async () => {
  const { pace, atMs } = pacing();
  for (let second = 0; second < 120; second += 1) {
    await pace.pass("a", "e");
    await vi.advanceTimersByTimeAsync(1_000);
  }
  expect(atMs()).toEqual([0, 1_000, 3_000, 7_000, 15_000, 31_000, 63_000]);
});

test("a sender in a loop gets at most 17 signals through on the first day, then one a day", async () => {
  const { pace, sent } = pacing();
  for (let minute = 0; minute < 10 * 24 * 60; minute += 1) {
    await pace.pass("a", undefined);
    await vi.advanceTimersByTimeAsync(60_000);
  }
  expect(sent.filter(({ atMs }) => atMs < DAY_MS).length).toBeLessThanOrEqual(17);
  expect(sent.length).toBeLessThanOrEqual(17 + 9);
});

test("a callback that comes during a pause is passed on at its end, once, with the latest event", async () => {
  const { pace, sent } = pacing();
  expect(await pace.pass("a", "one")).toBe("delivered");
  expect([await pace.pass("a", "two"), await pace.pass("a", "three")]).toEqual(["merged", "merged"]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(sent).toEqual([
    { workflowId: "a", event: "one", atMs: 0 },
    { workflowId: "a", event: "three", atMs: 1_000 },
  ]);
  expect(await pace.pass("a", "four")).toBe("delivered");
});

test("one workflow has one signal under way, and another one does not wait for it", async () => {
  const { pace, sent, temporal } = pacing();
  let release: (outcome: SignalOutcome) => void = () => undefined;
  temporal.answer = () => new Promise((resolve) => (release = resolve));
  const first = pace.pass("a", undefined);
  // Nobody holds a request open for as long as Temporal takes.
  expect([await pace.pass("a", undefined), await pace.pass("a", undefined)]).toEqual(["merged", "merged"]);
  await vi.advanceTimersByTimeAsync(4_000);
  expect(sent).toHaveLength(1);
  temporal.answer = () => Promise.resolve("delivered");
  expect(await pace.pass("b", undefined)).toBe("delivered");
  release("delivered");
  expect(await first).toBe("delivered");
  await vi.advanceTimersByTimeAsync(0);
  expect(sent.map(({ workflowId, atMs }) => [workflowId, atMs])).toEqual([
    ["a", 0],
    ["b", 4_000],
    ["a", 4_000],
  ]);
});

test("while Temporal does not take a workflow's signal, the sender keeps the callback", async () => {
  const { pace, sent, temporal } = pacing();
  temporal.answer = () => Promise.resolve("unreachable");
  expect([await pace.pass("a", undefined), await pace.pass("a", undefined)]).toEqual(["unreachable", "unreachable"]);
  expect(sent).toHaveLength(1);
  temporal.answer = () => Promise.resolve("delivered");
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await pace.pass("a", undefined)).toBe("delivered");
});

test("a callback is passed on soon after an outage, however many were not taken before", async () => {
  const { pace, temporal } = pacing();
  temporal.answer = () => Promise.resolve("unreachable");
  for (let failed = 0; failed < 10; failed += 1) {
    expect(await pace.pass("a", undefined)).toBe("unreachable");
    await vi.advanceTimersByTimeAsync(DAY_MS);
  }
  expect(await pace.pass("a", undefined)).toBe("unreachable");
  temporal.answer = () => Promise.resolve("delivered");
  await vi.advanceTimersByTimeAsync(15_000);
  expect(await pace.pass("a", undefined)).toBe("delivered");
});

test("a merged callback that Temporal does not take is tried again after the next pause", async () => {
  const { pace, atMs, temporal } = pacing();
  await pace.pass("a", undefined);
  await pace.pass("a", undefined);
  temporal.answer = () => Promise.resolve("unreachable");
  await vi.advanceTimersByTimeAsync(1_500);
  temporal.answer = () => Promise.resolve("delivered");
  await vi.advanceTimersByTimeAsync(600_000);
  expect(atMs()).toEqual([0, 1_000, 3_000]);
});

test.each([
  ["within its pause", 500],
  ["for longer than its pause", 4_000],
])("what comes while a merged callback is not taken %s is told of together with it, once", async (_, forMs) => {
  const { pace, sent, temporal } = pacing();
  await pace.pass("a", "one");
  await pace.pass("a", "two");
  let release: (outcome: SignalOutcome) => void = () => undefined;
  temporal.answer = () => new Promise((resolve) => (release = resolve));
  await vi.advanceTimersByTimeAsync(1_500);
  expect(await pace.pass("a", "three")).toBe("merged");
  await vi.advanceTimersByTimeAsync(forMs - 500);
  temporal.answer = () => Promise.resolve("delivered");
  release("unreachable");
  await vi.advanceTimersByTimeAsync(600_000);
  expect(sent.map(({ event }) => event)).toEqual(["one", "two", "three"]);
});

test("pauses grow to the longest, so that a storm of webhooks asks for a synchronisation once a minute", async () => {
  const { pace, atMs } = pacing({ longestPauseMs: 60_000 });
  for (let second = 0; second < 300; second += 1) {
    await pace.pass("default", undefined);
    await vi.advanceTimersByTimeAsync(1_000);
  }
  expect(atMs()).toEqual([0, 1_000, 3_000, 7_000, 15_000, 31_000, 63_000, 123_000, 183_000, 243_000]);
});

test("what is due when the receiver stops is passed on", async () => {
  const { pace, sent } = pacing();
  for (const workflowId of ["a", "b"]) for (const event of ["1", "2"]) await pace.pass(workflowId, event);
  await pace.close();
  expect(sent.map(({ workflowId, event }) => `${workflowId}${event}`)).toEqual(["a1", "b1", "a2", "b2"]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(sent).toHaveLength(4);
});

test("the workflow heard of longest ago is forgotten, and what it was due is passed on before", async () => {
  const { pace, sent } = pacing({ remembered: 2 });
  for (const workflowId of ["a", "a", "b", "c", "b"]) await pace.pass(workflowId, undefined);
  expect(sent.map(({ workflowId }) => workflowId)).toEqual(["a", "b", "a", "c"]);
  expect(vi.getTimerCount()).toBe(1);
});

test("no workflow ever gets more than its pauses allow, whenever callbacks come and whatever Temporal answers", async () => {
  const outcome = fc.constantFrom<SignalOutcome>("delivered", "gone", "unreachable");
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(fc.nat(20_000), outcome), { maxLength: 100 }), async (callbacks) => {
      const { pace, atMs, temporal } = pacing();
      const answers: SignalOutcome[] = [];
      const answering = (answer: SignalOutcome): void => {
        temporal.answer = () => {
          answers.push(answer);
          return Promise.resolve(answer);
        };
      };
      for (const [gapMs, answer] of callbacks) {
        answering(answer);
        await vi.advanceTimersByTimeAsync(gapMs);
        await pace.pass("a", undefined);
      }
      answering("delivered");
      await vi.advanceTimersByTimeAsync(10 * DAY_MS);
      let taken = 0;
      for (const [index, ms] of atMs().slice(1).entries()) {
        const longestMs = answers[index] === "unreachable" ? 10_000 : DAY_MS;
        expect(ms - (atMs()[index] ?? 0)).toBeGreaterThanOrEqual(Math.min(1_000 * 2 ** taken, longestMs));
        if (answers[index] !== "unreachable") taken += 1;
      }
    }),
    { numRuns: 50 },
  );
});
