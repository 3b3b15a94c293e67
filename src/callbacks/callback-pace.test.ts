import fc from "fast-check";
import { describe, expect, onTestFinished, test, vi } from "vitest";

import { PacedTurns, SignalPace, type SignalOutcome, type Turns } from "./temporal-signaller.ts";

const DAY_MS = 86_400_000;

function pacing(options: { remembered?: number; longestPauseMs?: number; turns?: Turns } = {}) {
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

test("a clock that is set back holds no callback up for longer than its pause", async () => {
  const { pace, sent, temporal } = pacing();
  temporal.answer = () => Promise.resolve("unreachable");
  expect(await pace.pass("away", undefined)).toBe("unreachable");
  temporal.answer = () => Promise.resolve("delivered");
  await pace.pass("later", undefined);
  vi.setSystemTime(Date.now() - 3_600_000);
  expect(await pace.pass("away", undefined)).toBe("delivered");
  await pace.pass("later", "two");
  await vi.advanceTimersByTimeAsync(2_000);
  expect(sent.map(({ workflowId }) => workflowId)).toEqual(["away", "later", "away", "later"]);
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

test("the workflow heard of longest ago is forgotten, unless something is due to it", async () => {
  const { pace, sent } = pacing({ remembered: 2 });
  for (const workflowId of ["a", "a", "b", "c", "b"]) await pace.pass(workflowId, undefined);
  expect(sent.map(({ workflowId }) => workflowId)).toEqual(["a", "b", "c", "b"]);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(sent.map(({ workflowId }) => workflowId)).toEqual(["a", "b", "c", "b", "a"]);
  expect(vi.getTimerCount()).toBe(0);
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

describe("the turns of callbacks that come together", () => {
  /** Callbacks of as many sales, at once; the workers are behind as long as the answer says. */
  async function burst(count: number, behindMs: () => number | undefined, bounds: { maxWaiting?: number } = {}) {
    const turns = new PacedTurns({ behindMs: () => Promise.resolve(behindMs()), ...bounds });
    const rig = pacing({ turns });
    const outcomes = await Promise.all(Array.from({ length: count }, (_, n) => rig.pace.pass(`sale ${n}`, undefined)));
    /** How many left in each five seconds. */
    const left = (windows: number): number[] =>
      Array.from({ length: windows }, (_, at) => rig.sent.filter(({ atMs }) => Math.floor(atMs / 5_000) === at).length);
    return { ...rig, outcomes, left };
  }

  test("30 leave at once; the others are held, and leave 10 a second, in their order", async () => {
    const { outcomes, sent } = await burst(70, () => 0);
    expect(outcomes.slice(0, 30)).toEqual(Array(30).fill("delivered"));
    expect(outcomes.slice(30)).toEqual(Array(40).fill("held"));
    await vi.advanceTimersByTimeAsync(5_000);
    expect(sent.map(({ workflowId }) => workflowId)).toEqual(Array.from({ length: 70 }, (_, n) => `sale ${n}`));
    expect([sent[30]?.atMs, sent[69]?.atMs]).toEqual([100, 4_000]);
  });

  test("are a tenth more after each five seconds in which workers kept up", async () => {
    const { left } = await burst(2_000, () => 200);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(left(4)).toEqual([79, 55, 61, 66]);
  });

  test("are a tenth less after each five seconds in which a task waited for long, but never none", async () => {
    const { left } = await burst(2_000, () => 2_100);
    await vi.advanceTimersByTimeAsync(120_000);
    expect(left(4)).toEqual([79, 46, 40, 37]);
    expect(left(24).at(-1)).toBe(10);
  });

  test.each([
    ["a task waits for a moment", 1_000],
    ["Temporal does not say how long one waits", undefined],
  ])("stay as many while %s", async (_, behindMs) => {
    const { left } = await burst(1_000, () => behindMs);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(left(4)).toEqual([79, 50, 50, 50]);
  });

  test("begin anew after a quiet time", async () => {
    const { pace, sent } = await burst(2_000, () => 0);
    await vi.advanceTimersByTimeAsync(600_000);
    const before = sent.length;
    for (let n = 0; n < 100; n += 1) await pace.pass(`later sale ${n}`, undefined);
    expect([before, sent.length - before]).toEqual([2_000, 30]);
  });

  test("one more than may wait is busy, and another callback of one that waits is not", async () => {
    const { pace, outcomes, sent } = await burst(70, () => 0, { maxWaiting: 20 });
    expect(outcomes.slice(49)).toEqual(["held", ...Array(20).fill("busy")]);
    expect(await pace.pass("sale 40", "again")).toBe("merged");
    await vi.advanceTimersByTimeAsync(2_000);
    expect(sent).toHaveLength(50);
    expect(sent.find(({ workflowId }) => workflowId === "sale 40")?.event).toBe("again");
  });

  test("none is held while Temporal takes no signal: its sender keeps it", async () => {
    const turns = new PacedTurns({ behindMs: () => Promise.resolve(0) });
    const { pace, sent, temporal } = pacing({ turns });
    temporal.answer = () => Promise.resolve("unreachable");
    for (let n = 0; n < 40; n += 1) expect(await pace.pass(`sale ${n}`, undefined)).toBe("unreachable");
    expect(sent).toHaveLength(30);
    temporal.answer = () => Promise.resolve("delivered");
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await pace.pass("sale 39", undefined)).toBe("delivered");
  });

  test("wait while as many signals are under way as may be", async () => {
    const turns = new PacedTurns({ behindMs: () => Promise.resolve(0), maxInFlight: 2 });
    const { pace, sent, temporal } = pacing({ turns });
    const release: (() => void)[] = [];
    temporal.answer = () => new Promise((resolve) => release.push(() => resolve("delivered")));
    const answers = ["a", "b", "c"].map((sale) => pace.pass(sale, undefined));
    expect(await answers[2]).toBe("held");
    await vi.advanceTimersByTimeAsync(4_000);
    expect(sent).toHaveLength(2);
    release[0]?.();
    expect(await answers[0]).toBe("delivered");
    await vi.advanceTimersByTimeAsync(0);
    expect(sent.map(({ workflowId }) => workflowId)).toEqual(["a", "b", "c"]);
  });

  test("what is held is tried again if Temporal does not take it, and passed on when the receiver stops", async () => {
    const { pace, sent, temporal } = await burst(31, () => 0);
    temporal.answer = () => Promise.resolve("unreachable");
    await vi.advanceTimersByTimeAsync(100);
    expect(sent.filter(({ workflowId }) => workflowId === "sale 30")).toHaveLength(1);
    temporal.answer = () => Promise.resolve("delivered");
    await pace.close();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(sent.filter(({ workflowId }) => workflowId === "sale 30")).toHaveLength(2);
  });
});
