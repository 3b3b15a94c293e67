import { afterAll, beforeAll, expect, test } from "vitest";

import { createTestLedger, type TestLedger } from "./test-support/create-test-ledger.ts";

let made: TestLedger;
beforeAll(async () => {
  made = await createTestLedger(15_000);
  await made.ledger.ready();
});
afterAll(() => made?.drop());

const isKnown = (eventId: string, connection = "default") => made.ledger.webhookEvents.isKnown(connection, eventId);
const keep = (eventId: string) => made.ledger.webhookEvents.keep("default", eventId);

test("a webhook event is known once it is kept, per connection, also for many receivers at once", async () => {
  expect(await isKnown("evt_1")).toBe(false);
  await Promise.all([keep("evt_1"), keep("evt_1"), keep("evt_1")]);
  expect([await isKnown("evt_1"), await isKnown("evt_1", "other"), await isKnown("evt_2")]).toEqual([
    true,
    false,
    false,
  ]);
});

test("a webhook event's id with characters that the database does not store is kept", async () => {
  await keep("odd \0\ud800");
  expect(await isKnown("odd \0\ud800")).toBe(true);
});

test("webhook events are deleted after seven days, a few with each new one", async () => {
  const age = (days: number, ids: string[]) =>
    made.outside.tamper(
      "insert into webhook_events select 'default', id, now() - make_interval(days => $1) from unnest($2::text[]) as id",
      [days, ids],
    );
  await age(6, ["young"]);
  await age(
    8,
    Array.from({ length: 45 }, (_, n) => `old ${n}`),
  );
  const left = async () => {
    const { rows } = await made.outside.query("select event_id from webhook_events where event_id like 'old %'");
    return rows.length;
  };
  await keep("new 1");
  expect(await left()).toBe(25);
  await keep("new 2");
  await keep("new 3");
  expect(await left()).toBe(0);
  expect([await isKnown("young"), await isKnown("new 1"), await isKnown("old 1")]).toEqual([true, true, false]);
});
