import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";

import { createTestLedger, type TestLedger } from "./test-support/create-test-ledger.ts";
import { firstTry, taking } from "./test-support/movements.ts";

let test: TestLedger;
beforeAll(async () => {
  test = await createTestLedger();
});
afterAll(() => test.drop());

const LONG_MS = 60_000;

it("one holder at a time has a turn, until it lets it lapse", async () => {
  const { fleet } = test.ledger;
  expect(await fleet.takeTurn("count", "one", LONG_MS)).toBe(true);
  expect(await fleet.takeTurn("count", "other", LONG_MS)).toBe(false);
  expect(await fleet.takeTurn("count", "one", -1)).toBe(true);
  expect(await fleet.takeTurn("count", "other", LONG_MS)).toBe(true);
  expect(await fleet.takeTurn("count", "one", LONG_MS)).toBe(false);
});

it("of many who ask at once, one gets it", async () => {
  const { fleet } = test.ledger;
  await test.outside.query("delete from turns");
  const asked = Array.from({ length: 10 }, () => fleet.takeTurn("count", randomUUID(), LONG_MS));
  expect((await Promise.all(asked)).filter(Boolean)).toEqual([true]);
});

it("needs of persons are counted by code, with the eldest, while their run goes on", async () => {
  const { documents, fleet } = test.ledger;
  const needs = async (
    number: string,
    connection: string,
    attentions: { code: "stock-unknown" | "rejected"; sinceMs: number; subject?: string }[],
  ) => {
    const business = { connection, businessId: "biz_1" };
    const writer = { workflowId: `sale/${connection}/biz_1/${number}`, runId: randomUUID() };
    const opened = { type: "sale", number, stage: "resolving-items", startedAtMs: 0, date: "2026-11-29" } as const;
    await documents.openNew(business, opened, { writer, askedAtMs: 0 });
    // The service's own words are among them, and PostgreSQL reads nothing out of a JSON text with such characters.
    const raised = attentions.map((one) => ({ ...one, message: "\0 and half of \ud83d", resolvedBy: [] }));
    const told = { numberTaken: false, attentionChanges: [], decisions: [] };
    await documents.note(
      business,
      { type: "sale", number, asOfMs: 1, sequence: 1, stage: "submitting", attentions: raised, ...told },
      writer,
    );
    return { business, of: { type: "sale", number } as const, writer };
  };
  await needs("INV-1", "one", [
    { code: "stock-unknown", sinceMs: 2_000, subject: "a" },
    { code: "stock-unknown", sinceMs: 1_000, subject: "b" },
    { code: "rejected", sinceMs: 9_000 },
  ]);
  await needs("INV-2", "one", [{ code: "rejected", sinceMs: 8_000 }]);
  await needs("INV-3", "two", [{ code: "rejected", sinceMs: 7_000 }]);
  await needs("INV-4", "two", []);
  const { business, of, writer } = await needs("INV-5", "two", [{ code: "rejected", sinceMs: 1 }]);
  await documents.markClosed(business, of, writer, { status: "terminated", atMs: 10_000 });
  const found = await fleet.needsOfPersons();
  expect(found.toSorted((one, other) => one.code.localeCompare(other.code))).toEqual([
    { code: "rejected", documents: 3, sinceMs: 7_000 },
    { code: "stock-unknown", documents: 1, sinceMs: 1_000 },
  ]);
});

it("an answer is owed once the time of its call is over, until it is settled", async () => {
  const { stock, fleet } = test.ledger;
  const before = await fleet.owedAnswers();
  const request = { ...firstTry(), ...taking() };
  await stock.take({ ...request, underWayForMs: LONG_MS });
  expect(await fleet.owedAnswers()).toEqual(before);
  await stock.ended(request);
  expect(await fleet.owedAnswers()).toEqual({ ...before, "stock-movement": before["stock-movement"] + 1 });
  await stock.settle({ ...request, outcome: { kind: "not-applied", message: "refused" } as never });
  expect(await fleet.owedAnswers()).toEqual(before);
});

it("what waits for an answer is found among many movements without reading them all", async () => {
  const { fleet, lostExecutions } = test.ledger;
  await test.outside.query(`
    insert into movements (connection, business_id, reference_id, generation, state, taken_at, workflow_id, run_id)
      select 'many', 'biz_1', 'INV-' || n, 1, 'closed', now(), 'sale', 'run' from generate_series(1, 20000) as n;
    insert into sync_batches (connection, sync_batch_id, generation, state, taken_at, workflow_id, run_id)
      select 'many', 'batch_' || n, 1, 'closed', now(), 'sale', 'run' from generate_series(1, 20000) as n;
    analyze movements, sync_batches`);
  const read = async (): Promise<unknown> => {
    await fleet.owedAnswers();
    await lostExecutions(0);
    const { rows } = await test.outside.query(`
      select indexrelname as name, i.idx_scan >= 2 as used, t.seq_tup_read >= 20000 as "readAll"
      from pg_stat_user_indexes as i join pg_stat_user_tables as t using (relid)
      where indexrelname in ('movements_held', 'sync_batches_held') order by 1`);
    return rows;
  };
  // The server counts scans a moment later.
  await expect.poll(read).toEqual([
    { name: "movements_held", used: true, readAll: false },
    { name: "sync_batches_held", used: true, readAll: false },
  ]);
});
