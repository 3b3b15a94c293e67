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
  const workflowId = `sale/default/${BUSINESS.businessId}/${number}`;
  const intent = {
    workflowId,
    intent: 1,
    idempotencyKey: number,
    content: "all",
    request: {},
    holder: "run",
    ...taking(),
  };
  const claim = `number/${workflowId}`;
  const owner = { claim, number, saleId: workflowId, sale: number };
  const movement = { ...firstTry(), ...BUSINESS };

  const row = { type: "sale", number } as const;
  const opened = { ...row, stage: "resolving-items", startedAtMs: 1, date: "2026-11-20" } as const;
  await ask("find the sale", ledger.records.findSale(BUSINESS, number));
  await ask("open the row", ledger.records.open(BUSINESS, opened, by(WRITER)));
  await ask("begin the document", ledger.documents.begin({ ...intent, number: owner, nowMs: 1 }));
  await call("create");
  const outcome = { kind: "document", documentId: `sale_${number}` } as const;
  await ask("settle the document", ledger.documents.settle({ workflowId, intent: 1, outcome, nowMs: 2 }));
  const answer = { document: documentOf(number), askedAtMs: 1 };
  await ask("settle the row", ledger.records.settle(BUSINESS, row, answer, WRITER));
  await ask("take the movement", ledger.stock.take(movement));
  await call("move");
  await ask("settle the movement", ledger.stock.settle({ ...movement, outcome: APPLIED }));
  return asked;
}

it("a sale costs the ledger a fixed small number of statements and commits", async () => {
  const asked = await sell("INV-1");
  const counts = Object.fromEntries([...asked].map(([what, statements]) => [what, statements.length]));
  expect(counts).toEqual({
    "find the sale": 3,
    "begin the document": 3,
    "create: spend": 3,
    "create: answered": 3,
    "settle the document": 3,
    "take the movement": 3,
    "move: spend": 3,
    "move: answered": 3,
    "settle the movement": 3,
    "open the row": 4,
    "settle the row": 6,
  });
  // One that goes alone is sent together with its begin and its commit.
  const committed = [...asked.values()].flat().filter((statement) => statement === "commit");
  expect([sum(Object.values(counts)), committed.length]).toEqual([37, 11]);
});

const sum = (numbers: number[]): number => numbers.reduce((one, other) => one + other, 0);
