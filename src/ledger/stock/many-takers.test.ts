import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Ledger, openLedger } from "../index.ts";
import { movementEventsOf } from "../test-support/claim-events.ts";
import { createTestLedger, type TestLedger } from "../test-support/create-test-ledger.ts";
import { APPLIED, firstTry, NOT_APPLIED } from "../test-support/movements.ts";
import type { StockClaims, TakeRequest } from "../index.ts";

type TakeAnswer = Awaited<ReturnType<StockClaims["take"]>>;

let test: TestLedger;
let ledgers: Ledger[];
beforeAll(async () => {
  test = await createTestLedger();
  // Pools that do not even share their migration.
  ledgers = [1, 2, 3, 4].map(() => openLedger({ url: test.url, home: "/nowhere", operationTimeoutMs: 20_000 }));
});
afterAll(async () => {
  await Promise.all(ledgers.map((ledger) => ledger.close()));
  await test.drop();
});

function takeByAll(requestOf: (index: number) => TakeRequest, count: number): Promise<TakeAnswer[]> {
  return Promise.all(
    Array.from({ length: count }, (_, index) => {
      const ledger = ledgers[index % ledgers.length];
      if (ledger === undefined) throw new Error("no ledger");
      return ledger.stock.take(requestOf(index));
    }),
  );
}

const count = (answers: TakeAnswer[], kind: TakeAnswer["kind"]): number =>
  answers.filter((answer) => answer.kind === kind).length;

it("a new movement is taken by one of 60 takers in four pools", async () => {
  const first = firstTry();
  const answers = await takeByAll(() => ({ ...first, token: randomUUID() }), 60);
  expect([count(answers, "taken"), count(answers, "unknown")]).toEqual([1, 59]);
});

it("each of 40 movements is taken by one of its three takers", async () => {
  const requests = Array.from({ length: 40 }, firstTry);
  const answers = await takeByAll((index) => {
    const request = requests[index % requests.length];
    if (request === undefined) throw new Error("no request");
    return { ...request, token: randomUUID() };
  }, 120);
  expect([count(answers, "taken"), count(answers, "unknown")]).toEqual([40, 80]);
});

it("a refused movement is taken by one of 40 takers of the next try", async () => {
  const first = firstTry();
  await test.ledger.stock.take(first);
  await test.ledger.stock.settle({ ...first, outcome: NOT_APPLIED });
  const answers = await takeByAll(() => ({ ...first, generation: 2, token: randomUUID() }), 40);
  expect([count(answers, "taken"), count(answers, "unknown")]).toEqual([1, 39]);
});

it("a try of a movement is closed or taken, and never both", async () => {
  for (let round = 0; round < 20; round += 1) {
    const first = firstTry();
    const [taken, closed] = await Promise.all([
      takeByAll(() => first, 1),
      ledgers[1]?.stock.readOrClose({ ...first, nowMs: 5 }),
    ]);
    expect([taken[0]?.kind, closed?.kind]).toEqual(
      taken[0]?.kind === "taken" ? ["taken", "unknown"] : ["superseded", "superseded"],
    );
  }
});

it("one outcome of many settlements at once is kept, and an operator's decision does not replace it", async () => {
  const first = firstTry();
  await test.ledger.stock.take(first);
  const answers = await Promise.all(
    ledgers.flatMap((ledger) => [
      ledger.stock.settle({ ...first, outcome: APPLIED }),
      ledger.stock.settle({ ...first, outcome: APPLIED }),
    ]),
  );
  expect(answers).toEqual(Array.from({ length: 8 }, () => "settled"));
  expect(await movementEventsOf(test.outside, first)).toHaveLength(2);
});
