import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { ledgerOfSuite } from "../test-support/create-test-ledger.ts";
import { verified } from "../test-support/verified.ts";

const test = ledgerOfSuite();

const WRITER = { workflowId: "sync-batch/default/batch_1", runId: "run-1" };
const DECISION = { note: "not in the dashboard at 14:00 \0\ud800", by: "a@b", atMs: 7 };

/** A connection that no other test has, and what is done to its batches. */
function someConnection() {
  const connection = randomUUID();
  const { syncBatches } = test.ledger;
  const requestOf = (syncBatchId: string, generation: number) => ({
    connection,
    syncBatchId,
    generation,
    token: `token ${generation}`,
    execution: `execution of ${generation}`,
    underWayForMs: 0,
    scheduledAtMs: 0,
    nowMs: 1_700_000_000_000,
    writer: { ...WRITER, runId: `run-${generation}` },
  });
  return {
    connection,
    take: (id: string, generation = 1) => syncBatches.take(requestOf(id, generation)),
    settle: (id: string, kind: "processed" | "not-processed", generation = 1) =>
      syncBatches.settle({ ...requestOf(id, generation), outcome: { kind, message: `${kind} \0\ud800` } }),
    close: (id: string, generation = 1) => syncBatches.readOrClose(requestOf(id, generation)),
    decide: (id: string, processed: boolean, generation = 1) =>
      syncBatches.decide({ ...requestOf(id, generation), decision: { ...DECISION, processed } }),
    verify: () => verified(test.ledger, { connection: `accounting/${connection}`, businessId: "-" }),
  };
}

type Connection = ReturnType<typeof someConnection>;

/** Three that were processed. */
async function withBatches(): Promise<Connection> {
  const connection = someConnection();
  for (const id of ["batch 1", "batch 2", "batch 3"]) {
    await connection.take(id);
    await connection.settle(id, "processed");
  }
  return connection;
}

describe("the verification of sync batches", () => {
  it("finds nothing in unaltered rows, whatever the batches' outcomes", async () => {
    const { take, settle, close, decide, verify } = await withBatches();
    await take("held");
    await take("refused");
    await settle("refused", "not-processed");
    await take("refused", 2);
    await close("closed");
    await decide("decided without a claim", false);
    await take("late");
    await decide("late", false);
    await settle("late", "processed");
    expect(await verify()).toMatchObject({ syncBatches: 8, findings: [], moreFindings: 0 });
  });

  it("finds nothing after random calls in random order", async () => {
    const call = fc.record({
      id: fc.constantFrom("a", "b \0\ud800"),
      generation: fc.integer({ min: 1, max: 3 }),
      what: fc.constantFrom("take", "processed", "not-processed", "close", "decide", "undecide"),
    });
    const run = fc.asyncProperty(fc.array(call, { minLength: 1, maxLength: 12 }), async (calls) => {
      const { take, settle, close, decide, verify } = someConnection();
      await take("first");
      for (const { id, generation, what } of calls) {
        if (what === "take") await take(id, generation);
        else if (what === "close") await close(id, generation);
        else if (what === "decide" || what === "undecide") await decide(id, what === "decide", generation);
        else await settle(id, what, generation);
      }
      expect((await verify()).findings).toEqual([]);
    });
    await fc.assert(run, { numRuns: 30 });
  }, 60_000);

  it.each([
    ["state = 'not-processed'", ["state"]],
    ["generation = 2", ["generation"]],
    [`outcome = '{"kind": "processed", "message": "ok"}'`, ["outcome"]],
    ["taken_at = now()", ["taken_at"]],
    ["disputed = true", ["disputed"]],
    [`decision = '{"processed": true}'`, ["decision"]],
    ["workflow_id = 'another'", ["workflow_id"]],
    ["state = 'held', outcome = null", ["outcome", "state"]],
  ])("finds the alteration: %s", async (change, columns) => {
    const { connection, verify } = await withBatches();
    await test.outside.tamper(`update sync_batches set ${change} where connection = $1 and sync_batch_id = 'batch 2'`, [
      connection,
    ]);
    const subject = "sync batch batch 2";
    const [finding, ...others] = (await verify()).findings;
    expect(others).toEqual([]);
    expect(finding).toMatchObject({ kind: "row-changed", table: "sync_batches", subject, row: subject });
    expect(finding?.kind === "row-changed" && finding.columns.toSorted()).toEqual(columns);
  });

  it.each([
    ["first", "batch 1"],
    ["middle", "batch 2"],
    ["last", "batch 3"],
  ])("finds that the %s row was deleted: the batch would be sent again", async (_which, id) => {
    const { connection, verify } = await withBatches();
    await test.outside.tamper("delete from sync_batches where connection = $1 and sync_batch_id = $2", [
      connection,
      id,
    ]);
    const subject = `sync batch ${id}`;
    expect(await verify()).toMatchObject({
      syncBatches: 2,
      findings: [{ kind: "row-missing", table: "sync_batches", subject, row: subject }],
      moreFindings: 0,
    });
  });
});
