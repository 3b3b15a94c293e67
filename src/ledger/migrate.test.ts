import { afterAll, beforeAll, expect, it } from "vitest";

import { openLedger } from "./index.ts";
import { createTestLedger, type TestLedger } from "./test-support/create-test-ledger.ts";
import { APPLIED, firstTry } from "./test-support/movements.ts";

let made: TestLedger;
beforeAll(async () => {
  made = await createTestLedger();
});
afterAll(() => made?.drop());

/** A process that comes to the tables, and one that is to set them up. */
async function opened(work: (ledger: ReturnType<typeof openLedger>) => Promise<void>): Promise<void> {
  for (const more of [{}, { ownerUrl: made.ownerUrl }]) {
    const ledger = openLedger({ url: made.url, home: "/nowhere", ...more });
    try {
      await work(ledger);
    } finally {
      await ledger.close();
    }
  }
}

it("makes in its first step what the last release made, whose databases would be refused otherwise", async () => {
  const { rows } = await made.outside.query("select baseline from fiscalflow_schema");
  expect(rows).toEqual([{ baseline: "cda174263edf1ec28b449ced8e7110384048034f1abc5003af9fa18e1bfac5ba" }]);
});

it("brings the tables of the version before to its own, if it may, and keeps what they have", async () => {
  const movement = firstTry();
  await made.ledger.stock.take(movement);
  await made.ledger.stock.settle({ ...movement, outcome: APPLIED });
  await made.outside.query(`
    alter table events drop column digest, drop column erased_by;
    alter table ledger_place drop column lost_from;
    drop table turns;
    drop index documents_that_need_a_person, movements_held, sync_batches_held;
    update fiscalflow_schema set version = 1;
    create table limits (tag text, statements text, locks text);
    create function note_limits() returns event_trigger language plpgsql as $$
    begin
      insert into limits
        values (tg_tag, current_setting('statement_timeout'), current_setting('lock_timeout'));
    end $$;
    create event trigger notes_limits on ddl_command_start execute function note_limits()`);
  const [asWorker, asOwner] = [{}, { ownerUrl: made.ownerUrl }].map((more) =>
    openLedger({ url: made.url, home: "/nowhere", ...more }),
  );
  await expect(asWorker?.ready()).rejects.toThrow(/tables of an earlier version: run `fiscalflow setup`/);
  await asOwner?.ready();
  await asWorker?.ready();
  expect(await asWorker?.stock.read(movement)).toEqual(APPLIED);
  for await (const chain of made.ledger.verify()) expect(chain).toMatchObject({ findings: [] });
  await Promise.all([asWorker?.close(), asOwner?.close()]);
  // An index on a large table takes its time; behind a lock that is waited for, sales wait.
  await made.outside.query("drop event trigger notes_limits");
  const { rows } = await made.outside.query("select distinct statements, locks from limits where tag = 'CREATE INDEX'");
  expect(rows).toEqual([{ statements: "1h", locks: "30s" }]);
});

it("works on tables to which a newer version has added, and leaves them as they are", async () => {
  await made.outside.query(`
    update fiscalflow_schema set version = 4, oldest = 1;
    alter table movements add column added text, add column counted integer not null default 0;
    create table added_too (number bigint)`);
  await opened(async (ledger) => {
    await ledger.ready();
    const movement = firstTry();
    expect(await ledger.stock.take(movement)).toEqual({ kind: "taken" });
    await ledger.stock.settle({ ...movement, outcome: APPLIED });
    expect(await ledger.stock.read(movement)).toEqual(APPLIED);
    for await (const chain of ledger.verify()) expect(chain).toMatchObject({ findings: [] });
  });
  const { rows } = await made.outside.query("select version, oldest from fiscalflow_schema");
  expect(rows).toEqual([{ version: 4, oldest: 1 }]);
});

it.each([
  [
    "from which a newer version has taken what this one uses",
    "LedgerError",
    "update fiscalflow_schema set version = 9, oldest = 8",
    /brought to version 9 by a newer fiscalflow, and take processes of version 8 and later; .* version 3: upgrade it/,
  ],
  [
    "of an earlier state",
    "LedgerUnavailableError",
    "update fiscalflow_schema set version = 1, oldest = 1, baseline = 'another'",
    /from before 1\.0.* Give it an empty database: drop this one/,
  ],
  [
    "of an earlier state without a version",
    "LedgerUnavailableError",
    "drop table fiscalflow_schema",
    /from before 1\.0.* Give it an empty database: drop this one/,
  ],
])("refuses tables %s, and says what to do", async (_which, name, statement, message) => {
  await made.outside.query(statement);
  await opened((ledger) =>
    expect(ledger.ready()).rejects.toMatchObject({ name, message: expect.stringMatching(message) }),
  );
});
