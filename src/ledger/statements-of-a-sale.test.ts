import { afterAll, beforeAll, expect, it } from "vitest";

import type { Ledger } from "./index.ts";
import { APPLIED, firstTry, taking } from "./test-support/movements.ts";
import { by, documentOf, someBusiness, WRITER } from "./test-support/records.ts";
import { openWatchedLedger, type WatchedLedger } from "./test-support/watched-ledger.ts";
import type { WatchedLine } from "./test-support/watched-line.ts";

let watched: WatchedLedger;
let line: WatchedLine;
let ledger: Ledger;
beforeAll(async () => {
  watched = await openWatchedLedger();
  ({ line, ledger } = watched);
  // The business has sold before: its chain is there, and the budget's window.
  await sell("INV-0");
});
afterAll(() => watched?.close());

const BUSINESS = someBusiness();
const BELIEVED = { limit: 60, endsInMs: 60_000, lengthMs: 60_000, fromHeaders: false };

/** All that the ledger is asked for an accepted sale with one movement. */
async function sell(number: string): Promise<Map<string, string[]>> {
  const asked = new Map<string, string[]>();
  const ask = async <Answer>(what: string, work: Promise<Answer>): Promise<Answer> => {
    const from = line.statements.length;
    const answer = await work;
    asked.set(what, line.statements.slice(from));
    return answer;
  };
  const call = async (what: string): Promise<void> => {
    const request = { application: "shop", reserve: 0, believed: BELIEVED };
    const answer = await ask(`${what}: spend`, ledger.quota.spend(request, 10_000));
    if (!answer.granted) throw new Error("the window is not large enough");
    const spent = { application: "shop", number: answer.window.number, sequence: answer.sequence };
    await ask(`${what}: answered`, ledger.quota.settle(spent, 1_000));
  };
  const of = { type: "sale", number } as const;
  const opened = { ...of, stage: "resolving-items", startedAtMs: 1, date: "2026-11-20" } as const;
  const bytes = { idempotencyKey: number, content: "all", request: {}, nowMs: 1, writer: WRITER, ...taking() };
  const intent = { ...BUSINESS, of, intent: 1, ...bytes };
  const movement = { ...firstTry(), ...BUSINESS };

  await ask("open the row", ledger.documents.openNew(BUSINESS, opened, by(WRITER)));
  const taken = await ask("take the document", ledger.documents.take(intent));
  await call("create");
  const document = documentOf(number);
  const outcome = { kind: "document", documentId: document.id } as const;
  const seen = taken.kind === "send" ? taken.seen : undefined;
  const answer = { document, askedAtMs: 1 };
  await ask("settle the document", ledger.documents.settleAnswered({ ...intent, outcome, answer, seen }));
  await ask("take the movement", ledger.stock.take(movement));
  await call("move");
  await ask("settle the movement", ledger.stock.settle({ ...movement, outcome: APPLIED }));
  return asked;
}

it("a sale costs the ledger a fixed small number of statements and commits", async () => {
  const asked = await sell("INV-1");
  const counts = Object.fromEntries([...asked].map(([what, statements]) => [what, statements.length]));
  expect(counts).toEqual({
    "open the row": 3,
    "take the document": 3,
    "create: spend": 3,
    "create: answered": 3,
    "settle the document": 3,
    "take the movement": 3,
    "move: spend": 3,
    "move: answered": 3,
    "settle the movement": 3,
  });
  // Each goes alone, and is sent together with its begin and its commit.
  const committed = [...asked.values()].flat().filter((statement) => statement === "commit");
  expect([sum(Object.values(counts)), committed.length]).toEqual([27, 9]);
});

it("the commits of the budget and of turns wait for no disk, and those of all other tables do", async () => {
  const { rows } = await watched.test.outside.query(
    "select relname from pg_class where relkind = 'r' and relpersistence = 'u' order by relname",
  );
  expect(rows).toEqual([{ relname: "quota_windows" }, { relname: "turns" }]);
});

const sum = (numbers: number[]): number => numbers.reduce((one, other) => one + other, 0);
