import { createHash, randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";

import { openLedger, type NewEvent, type SeenHead, type VerifiedChain } from "../index.ts";
import { ledgerOfSuite } from "../test-support/create-test-ledger.ts";

const test = ledgerOfSuite();

const WRITER = { workflowId: "sale/default/biz/INV-1", runId: "run-1" };
const eventOf = (n: number, more: Partial<NewEvent> = {}): NewEvent => ({
  kind: "document-saved",
  subject: `INV-${n}`,
  content: { total: `${n}.50`, name: "Mtoto \u{1F600} \0 \uD800" },
  writer: WRITER,
  ...more,
});

/** A business that no other test has, with that many events. */
async function chainOf(count: number): Promise<string> {
  const businessId = `biz_${randomUUID()}`;
  const events = Array.from({ length: count }, (_, n) => eventOf(n + 1));
  await test.ledger.events.append({ connection: "default", businessId }, events);
  return businessId;
}

async function verify(businessId: string, seen?: SeenHead[]): Promise<VerifiedChain[]> {
  const reports: VerifiedChain[] = [];
  for await (const report of test.ledger.verify({ businessId, seen })) reports.push(report);
  return reports;
}

const findingsOf = async (businessId: string, seen?: SeenHead[]) =>
  (await verify(businessId, seen)).flatMap(({ findings }) => findings);

const tamper = (statement: string, businessId: string): Promise<void> => test.outside.tamper(statement, [businessId]);

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

describe("a chain of events", () => {
  it("verifies after appends, and has the documented hashes", async () => {
    const businessId = await chainOf(1_203);
    const [report] = await verify(businessId);
    expect(report).toMatchObject({ events: 1_203, head: { count: 1_203 }, findings: [] });
    const { rows } = await test.outside.query<Record<string, string> & { at: Date }>(
      "select * from events where business_id = $1 order by number",
      [businessId],
    );
    let previous = "0".repeat(64);
    for (const row of rows) {
      const { connection, business_id, number, at, kind, subject, workflow_id, run_id, content, salt } = row;
      const parts = [connection, business_id, Number(number), at.getTime(), kind, subject, null];
      const text = JSON.stringify([...parts, workflow_id, run_id, sha256(`${salt}\n${content}`)]);
      previous = sha256(`${previous}\n${text}`);
      expect(row["hash"]).toBe(previous);
    }
    expect(report?.head?.hash).toBe(previous);
  });

  it("verifies whatever its texts are", async () => {
    const businessId = `biz "\\ \u0001\u001f\u007f\u0085\u2028 ${randomUUID()}`;
    const odd = String.raw`{"a\b"} ,null NULL \u0041` + "\t\n\b\f\r\u{1F600}é\u{FEFF}";
    const writer = { workflowId: `sale/${odd}`, runId: odd };
    const events = ["", odd, "null"].map((text) => eventOf(1, { kind: text, subject: odd, key: `k${text}`, writer }));
    await test.ledger.events.append({ connection: "default", businessId }, events);
    expect(await verify(businessId)).toMatchObject([{ events: 3, findings: [] }]);
    const { rows } = await test.outside.query("select kind, subject, run_id from events where business_id = $1", [
      businessId,
    ]);
    expect(rows).toEqual(["", odd, "null"].map((kind) => ({ kind, subject: odd, run_id: odd })));
  });

  it("is not led astray by a table of the caller's", async () => {
    const businessId = await chainOf(1);
    const query = (statement: string) => test.outside.query(statement);
    await query("create temporary table events (like events including all)");
    await query("create temporary table event_heads (like event_heads including all)");
    try {
      const event = "'{x}', '{y}', '{null}', '{sale}', '{run}', '{1}'";
      await query(`select append_events('default', '${businessId}', ${event})`);
    } finally {
      await query("drop table pg_temp.events, pg_temp.event_heads");
    }
    expect(await verify(businessId)).toMatchObject([{ events: 2, findings: [] }]);
  });

  it("has one event for each key", async () => {
    const business = { connection: "default", businessId: await chainOf(1) };
    const append = (...keys: string[]) =>
      test.ledger.events.append(
        business,
        keys.map((key) => eventOf(1, { key })),
      );
    expect(await append("a", "b", "a")).toEqual([2, 3, undefined]);
    expect(await append("b", "c")).toEqual([undefined, 4]);
    expect(await findingsOf(business.businessId)).toEqual([]);
  });

  it("takes 200 appends of many processes in one order", async () => {
    const businessId = `biz_${randomUUID()}`;
    const ledgers = [1, 2, 3, 4].map(() => openLedger({ url: test.url, home: "/nowhere", operationTimeoutMs: 20_000 }));
    const business = { connection: "default", businessId };
    const numbers = await Promise.all(
      Array.from({ length: 200 }, async (_, n) => ledgers[n % 4]?.events.append(business, [eventOf(n), eventOf(n)])),
    );
    await Promise.all(ledgers.map((ledger) => ledger.close()));
    const all = numbers.flat().toSorted((a, b) => (a ?? 0) - (b ?? 0));
    expect(all).toEqual(Array.from({ length: 400 }, (_, n) => n + 1));
    expect(await findingsOf(businessId)).toEqual([]);
  });

  it("verifies while it grows", async () => {
    const businessId = await chainOf(600);
    const business = { connection: "default", businessId };
    const looks = Array.from({ length: 10 }, () => findingsOf(businessId));
    const appends = Array.from({ length: 40 }, (_, n) => test.ledger.events.append(business, [eventOf(n)]));
    await Promise.all(appends);
    expect((await Promise.all(looks)).flat()).toEqual([]);
  });

  it("refuses updates and deletes of its rows", async () => {
    await chainOf(1);
    for (const statement of ["update events set kind = 'x'", "delete from events", "truncate events"])
      await expect(test.outside.query(statement)).rejects.toThrow("append-only");
  });
});

describe("the verification of a chain", () => {
  it.each([
    "content = content || ' '",
    "salt = 'another'",
    "at = at + interval '1 ms'",
    "subject = 'INV-9'",
    "run_id = 'another'",
  ])("finds a row whose %s was set", async (change) => {
    const businessId = await chainOf(5);
    await tamper(`update events set ${change} where business_id = $1 and number = 3`, businessId);
    expect(await findingsOf(businessId)).toMatchObject([{ kind: "changed", number: 3 }]);
  });

  it.each([
    ["first", 1, { kind: "missing", from: 1, to: 1 }],
    ["middle", 3, { kind: "missing", from: 3, to: 3 }],
    ["last", 5, { kind: "missing", from: 5, to: 5 }],
  ])("finds that the %s row was deleted", async (_which, number, finding) => {
    const businessId = await chainOf(5);
    await tamper(`delete from events where business_id = $1 and number = ${number}`, businessId);
    expect(await findingsOf(businessId)).toEqual([finding]);
  });

  it("finds that all rows were deleted", async () => {
    const businessId = await chainOf(5);
    await tamper("delete from events where business_id = $1", businessId);
    expect(await findingsOf(businessId)).toEqual([{ kind: "missing", from: 1, to: 5 }]);
  });

  it("finds a deleted row whose place the others have taken", async () => {
    const businessId = await chainOf(5);
    await tamper("delete from events where business_id = $1 and number = 3", businessId);
    await tamper("update events set number = number - 1 where business_id = $1 and number > 3", businessId);
    expect(await findingsOf(businessId)).toEqual([
      { kind: "changed", number: 3, subject: "INV-4" },
      { kind: "changed", number: 4, subject: "INV-5" },
      { kind: "missing", from: 5, to: 5 },
    ]);
  });

  it("finds a row that was rewritten together with its hash", async () => {
    const businessId = await chainOf(3);
    const { rows } = await test.outside.query<{ previous_hash: string; at: Date; salt: string }>(
      "select previous_hash, at, salt from events where business_id = $1 and number = 2",
      [businessId],
    );
    const [row] = rows;
    const { workflowId, runId } = WRITER;
    const parts = ["default", businessId, 2, row?.at.getTime(), "document-saved", "INV-2", null, workflowId, runId];
    const digest = sha256(`${row?.salt}\n{"total":"0.01"}`);
    const hash = sha256(`${row?.previous_hash}\n${JSON.stringify([...parts, digest])}`);
    const change = `content = '{"total":"0.01"}', hash = '${hash}'`;
    await tamper(`update events set ${change} where business_id = $1 and number = 2`, businessId);
    expect(await findingsOf(businessId)).toEqual([{ kind: "unlinked", number: 3, subject: "INV-3" }]);
  });

  it("finds rows that were added after the end, and a head that was changed or lost", async () => {
    const businessId = await chainOf(3);
    await tamper("update event_heads set count = 2 where business_id = $1", businessId);
    expect(await findingsOf(businessId)).toEqual([
      { kind: "other-end", number: 2 },
      { kind: "uncounted", from: 3, to: 3 },
    ]);
    await tamper("delete from event_heads where business_id = $1", businessId);
    expect(await findingsOf(businessId)).toEqual([{ kind: "no-head", events: 3 }]);
  });

  it("compares with an earlier result, and so finds a chain that was rewritten as a whole", async () => {
    const businessId = await chainOf(3);
    const [report] = await verify(businessId);
    const seen = { connection: "default", businessId, count: 3, hash: report?.head?.hash ?? "" };
    await test.ledger.events.append({ connection: "default", businessId }, [eventOf(4)]);
    expect(await findingsOf(businessId, [seen])).toEqual([]);
    await tamper("delete from events where business_id = $1", businessId);
    await tamper("delete from event_heads where business_id = $1", businessId);
    expect(await findingsOf(businessId, [seen])).toEqual([{ kind: "missing", from: 1, to: 3 }]);
    const anew = Array.from({ length: 4 }, (_, n) => eventOf(n + 10));
    await test.ledger.events.append({ connection: "default", businessId }, anew);
    expect(await findingsOf(businessId)).toEqual([]);
    expect(await findingsOf(businessId, [seen])).toEqual([{ kind: "not-as-seen", number: 3 }]);
  });
});
