import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { BatchOutcome } from "../../contract/index.ts";
import type { SyncBatches } from "./sync-batches.ts";
import { createTestLedger, type TestLedger } from "../test-support/create-test-ledger.ts";

const WRITER = { workflowId: "sync-batch/default/batch_1", runId: "run-1" };
const NO = { processed: false, note: "not in the dashboard", atMs: 1 };
const YES = { processed: true, note: "seen in the dashboard", atMs: 2 };

let made: TestLedger;
let batches: SyncBatches;
beforeAll(async () => {
  made = await createTestLedger();
  await made.ledger.ready();
  batches = made.ledger.syncBatches;
});
afterAll(() => made.drop());

/** A batch that no other test has. */
function batch() {
  const key = { connection: "default", syncBatchId: randomUUID() };
  return {
    take: (generation: number, more: Partial<Parameters<SyncBatches["take"]>[0]> = {}) =>
      batches.take({
        ...key,
        generation,
        token: `try ${generation}`,
        execution: `execution of ${generation}`,
        underWayForMs: 0,
        scheduledAtMs: 0,
        writer: WRITER,
        nowMs: 1_700_000_000_000,
        ...more,
      }),
    close: (generation: number) =>
      batches.readOrClose({ ...key, generation, writer: WRITER, nowMs: 1_700_000_000_000 }),
    ended: (generation: number, execution = `execution of ${generation}`) =>
      batches.ended({ ...key, generation, token: `try ${generation}`, execution }),
    decide: (generation: number, decision: typeof NO) =>
      batches.decide({ ...key, generation, decision, writer: WRITER }),
    settle: (generation: number, outcome: BatchOutcome) =>
      batches.settle({ ...key, generation, token: `try ${generation}`, outcome, writer: WRITER }),
    read: () => batches.read(key),
  };
}

test("a batch is taken again by a call whose acknowledgement was lost, not by a run to which a reset hands it on", async () => {
  const { take } = batch();
  expect([await take(1), await take(1)]).toEqual([{ kind: "taken" }, { kind: "taken" }]);
  expect(await take(1, { writer: { ...WRITER, runId: "run-2" } })).toMatchObject({
    kind: "unknown",
    message: expect.stringMatching(/^It was taken to be sent at .* EAT \(.* UTC\), and no outcome was written down\.$/),
    evidence: { takenBy: `${WRITER.workflowId} (run run-1)` },
  });
});

test("a batch is not taken by another execution of the same try, but for one that follows an unsent one", async () => {
  const { take } = batch();
  await take(1);
  expect(await take(1, { execution: "another" })).toMatchObject({ kind: "unknown" });
  expect(await take(1, { execution: "another", unsent: ["execution of 1"] })).toEqual({ kind: "taken" });
  expect(await take(1)).toMatchObject({ kind: "unknown" });
});

test("a batch whose execution may still be at it is not unknown, until that one has ended", async () => {
  const { take, close, ended } = batch();
  await take(1, { underWayForMs: 60_000 });
  const answer = { kind: "in-progress", forMs: expect.toSatisfy((forMs: number) => forMs > 50_000 && forMs <= 60_000) };
  expect(await close(1)).toEqual(answer);
  expect(await take(1, { execution: "another" })).toEqual(answer);
  await ended(1, "another");
  expect(await close(1)).toEqual(answer);
  await ended(1);
  expect(await close(1)).toMatchObject({ kind: "unknown" });
  expect(await take(1, { execution: "another" })).toMatchObject({ kind: "unknown" });
});

test("a late answer that a batch was processed ends it while a newer try is out, whatever comes of that", async () => {
  const { take, decide, settle } = batch();
  await take(1);
  await decide(1, NO);
  await take(2);
  const processed: BatchOutcome = { kind: "processed", message: "200" };
  expect(await settle(1, processed)).toBe("contradicted");
  await settle(2, { kind: "not-processed", message: "429: refused before it was carried out" });
  expect(await take(3)).toEqual({ ...processed, decision: NO });
});

describe("an operator's decision on a sync batch", () => {
  test("that it was not processed allows the next try, and no earlier one", async () => {
    const { take, decide } = batch();
    await take(1);
    const superseded = { kind: "superseded", generation: 1, decision: NO };
    expect(await decide(1, NO)).toEqual(superseded);
    expect(await take(1)).toEqual(superseded);
    expect(await take(2)).toEqual({ kind: "taken" });
  });

  test.each([NO, YES])("about an earlier try does not settle a later one: $processed", async (decision) => {
    const { take, decide, read } = batch();
    await take(1);
    await decide(1, NO);
    await take(2);
    // As a run does that was reset to before its first decision.
    expect(await decide(1, decision)).toMatchObject({ kind: "unknown", generation: 2 });
    expect(await read()).toMatchObject({ state: "held", generation: 2 });
    expect(await take(3)).toMatchObject({ kind: "unknown" });
  });

  test("that it was processed is final", async () => {
    const { take, decide, read } = batch();
    await take(1);
    await decide(1, NO);
    await take(2);
    const decided = { kind: "decided-processed", decision: YES };
    expect(await decide(2, YES)).toEqual(decided);
    expect(await read()).toMatchObject({ state: "processed", generation: 2 });
    expect(await take(3)).toEqual(decided);
  });
});
