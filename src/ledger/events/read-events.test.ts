import { randomUUID } from "node:crypto";
import { setTimeout as nextTick } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { LedgerEvent } from "../../contract/index.ts";
import { createTestLedger, type TestLedger } from "../test-support/create-test-ledger.ts";
import { openOutsideClient } from "../test-support/outside-client.ts";

const WRITER = { workflowId: "sale/default/biz/1", runId: "run" };

let made: TestLedger;
beforeAll(async () => {
  made = await createTestLedger();
  await made.ledger.ready();
});
afterAll(() => made.drop());

/** A business that no other test has. */
function business() {
  const of = { connection: "default", businessId: randomUUID() };
  const { events } = made.ledger;
  const append = (subject: string, content: unknown = {}) =>
    events.append(of, [{ kind: "noted", subject, content, writer: WRITER }]);
  const readAll = async (): Promise<LedgerEvent[]> => {
    const all: LedgerEvent[] = [];
    for (;;) {
      const page = await events.read(of, all.at(-1)?.cursor);
      if (page.length === 0) return all;
      all.push(...page);
    }
  };
  return { of, append, readAll, read: (cursor?: string) => events.read(of, cursor) };
}

describe("the feed of events", () => {
  test("skips none, while many write at once and one is late to commit", async () => {
    const { of, append, read } = business();
    await append("first");
    const late = openOutsideClient(made.url);
    const seen: LedgerEvent[] = [];
    let isDone = false;
    const reading = (async () => {
      while (!isDone || (await read(seen.at(-1)?.cursor)).length > 0) {
        seen.push(...(await read(seen.at(-1)?.cursor)));
        await nextTick(1);
      }
    })();
    await late.query("begin");
    // It takes the head, writes its event, and is held up before it commits.
    const event = "'{x}', '{late}', '{null}', '{sale}', '{run}', '{1}'";
    await late.query(`select append_events('${of.connection}', '${of.businessId}', ${event})`);
    const writing = Promise.all(Array.from({ length: 4 }, (_, writer) => append(`early ${writer}`)));
    await expect
      .poll(async () => (await made.outside.query("select 1 from pg_locks where not granted")).rows.length)
      .toBeGreaterThan(0);
    expect(seen.map(({ subject }) => subject)).toEqual(["first"]);
    await late.query("commit");
    await writing;
    await Promise.all(Array.from({ length: 60 }, (_, n) => append(`later ${n}`)));
    isDone = true;
    await reading;
    await late.end();
    expect(seen.map(({ number }) => number)).toEqual(Array.from({ length: 66 }, (_, index) => index + 1));
    expect(seen[1]).toMatchObject({ number: 2, subject: "late" });
  });

  test("comes in pages that are bounded in number and in size", async () => {
    const { append, read, readAll } = business();
    const long = "n".repeat(40_000);
    for (let n = 0; n < 8; n++) await append(`${n} ${long}`);
    expect(await read()).toHaveLength(3);
    expect((await readAll()).map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });

  test("refuses a cursor that the ledger does not have: another business's, or one from before a restore", async () => {
    const [one, other] = [business(), business()];
    await one.append("a");
    await other.append("b");
    const [event] = await one.read();
    const cursor = event?.cursor ?? "";
    expect(await one.read(cursor)).toEqual([]);
    await expect(other.read(cursor)).rejects.toThrow("The ledger has no event 1-");
    await expect(one.read(cursor.replace(/^1-/, "9-"))).rejects.toThrow("The ledger has no event 9-");
    await expect(one.read("1 or 1=1")).rejects.toThrow("The ledger has no event");
  });

  test("shows a gap, and does not read over it", async () => {
    const { of, append, read } = business();
    for (const subject of ["a", "b", "c"]) await append(subject);
    await made.outside.tamper(`delete from events where business_id = '${of.businessId}' and number = 2`);
    await expect(read()).rejects.toThrow(/event 2 of .* is missing: run `fiscalflow ledger verify`/);
  });
});
