import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LedgerError } from "../errors.ts";
import { movementEventsOf } from "../test-support/claim-events.ts";
import { createTestLedger, type TestLedger } from "../test-support/create-test-ledger.ts";
import { APPLIED, firstTry, heldBy, keyOf, MOVEMENT, NOT_APPLIED, taking } from "../test-support/movements.ts";
import { WRITER } from "../test-support/records.ts";
import type { StockClaims } from "../index.ts";

let test: TestLedger;
let stock: StockClaims;
beforeAll(async () => {
  test = await createTestLedger();
  ({ stock } = test.ledger);
});
afterAll(() => test.drop());

describe("a movement without a claim", () => {
  it("is taken, and taken again by the same execution whose acknowledgement was lost", async () => {
    const first = firstTry();
    expect(await stock.take(first)).toEqual({ kind: "taken" });
    expect(await stock.take(first)).toEqual({ kind: "taken" });
    expect((await movementEventsOf(test.outside, first)).map(({ what }) => what)).toEqual(["taken"]);
  });

  it("is independent in another connection or business", async () => {
    const first = firstTry();
    for (const other of [{}, { connection: "other" }, { businessId: "biz_2" }, { businessId: undefined }])
      expect(await stock.take({ ...first, ...other })).toEqual({ kind: "taken" });
  });

  it("may be taken under any generation, and none below 1", async () => {
    expect(await stock.take({ ...firstTry(), generation: 3 })).toEqual({ kind: "taken" });
    await expect(stock.take({ ...firstTry(), generation: 0 })).rejects.toThrow(LedgerError);
    await expect(stock.take({ ...firstTry(), movement: { ...MOVEMENT, quantity: Number.NaN } })).rejects.toThrow(
      LedgerError,
    );
  });
});

describe("a movement whose claim is held", () => {
  it("is not given to another run, to which a reset has handed the same token on", async () => {
    const first = firstTry();
    await stock.take(first);
    expect(await stock.take({ ...first, writer: { ...first.writer, runId: "run of the reset" } })).toEqual(
      heldBy(first, 1),
    );
  });

  it("is not given to another execution of the same try, but for one that follows an unsent one", async () => {
    const first = firstTry();
    await stock.take(first);
    const other = { ...first, ...taking() };
    expect(await stock.take(other)).toEqual(heldBy(first, 1));
    expect(await stock.take({ ...other, unsent: [taking().execution] })).toEqual(heldBy(first, 1));
    expect(await stock.take({ ...other, unsent: [first.execution] })).toEqual({ kind: "taken" });
    expect(await stock.take(first)).toEqual(heldBy(first, 1));
    expect((await movementEventsOf(test.outside, first)).map(({ what }) => what)).toEqual(["taken", "taken-again"]);
  });

  it("is not given to another token, in whatever generation", async () => {
    const first = firstTry();
    await stock.take({ ...first, generation: 2 });
    for (const generation of [1, 2, 3]) {
      expect(await stock.take({ ...first, generation, token: "other", nowMs: 99 })).toEqual(heldBy(first, 2));
    }
    expect(await stock.read(first)).toEqual(heldBy(first, 2));
  });

  it.each([{ itemId: "other" }, { action: "ADD" as const }, { quantity: 3 }, { unitPrice: 9.99 }, { branch: "01" }])(
    "is told from another one under its reference: %o",
    async (change) => {
      const first = firstTry();
      await stock.take(first);
      expect(await stock.take({ ...first, movement: { ...MOVEMENT, ...change } })).toEqual({
        kind: "different",
        claimed: MOVEMENT,
        state: "held",
      });
      await stock.settle({ ...first, outcome: APPLIED });
      expect(await stock.take({ ...first, movement: { ...MOVEMENT, ...change } })).toMatchObject({
        kind: "different",
        state: "applied",
      });
    },
  );
});

describe("a movement that was applied", () => {
  it("is settled for every taker, exactly as the service answered", async () => {
    const first = firstTry();
    await stock.take(first);
    expect(await stock.settle({ ...first, outcome: APPLIED })).toBe("settled");
    expect(await stock.settle({ ...first, outcome: APPLIED })).toBe("settled");
    expect(await stock.take(first)).toEqual(APPLIED);
    expect(await stock.take({ ...first, generation: 2, token: "b" })).toEqual(APPLIED);
    expect(await stock.read(first)).toEqual(APPLIED);
    expect(await movementEventsOf(test.outside, first)).toHaveLength(2);
  });

  it("is kept without what an activity adds for its workflow", async () => {
    const first = firstTry();
    await stock.take(first);
    await stock.settle({ ...first, outcome: { ...APPLIED, unsettled: true } });
    expect(await stock.read(first)).toEqual(APPLIED);
  });

  it("stays applied when the same try is reported otherwise later, which is disputed", async () => {
    const first = firstTry();
    await stock.take(first);
    await stock.settle({ ...first, outcome: APPLIED });
    for (const outcome of [NOT_APPLIED, { ...APPLIED, movementId: "another" }, NOT_APPLIED])
      expect(await stock.settle({ ...first, outcome })).toBe("contradicted");
    expect(await stock.read(first)).toEqual(APPLIED);
    const told = (await movementEventsOf(test.outside, first)).filter(({ what }) => what === "contradicted");
    expect(told.map(({ detail }) => detail)).toEqual([NOT_APPLIED, { ...APPLIED, movementId: "another" }]);
  });
});

describe("a movement that was not applied", () => {
  it("is superseded for its own generation and may be taken under the next", async () => {
    const first = firstTry();
    await stock.take(first);
    expect(await stock.settle({ ...first, outcome: NOT_APPLIED })).toBe("settled");
    expect(await stock.settle({ ...first, outcome: NOT_APPLIED })).toBe("settled");
    expect(await stock.read(first)).toEqual({ kind: "superseded", generation: 1 });
    expect(await stock.take(first)).toEqual({ kind: "superseded", generation: 1 });
    expect(await stock.take({ ...first, generation: 2, token: "b" })).toEqual({ kind: "taken" });
    expect(await stock.read(first)).toMatchObject({ kind: "unknown", generation: 2 });
  });

  it("may be taken under any later generation, with other content", async () => {
    const first = firstTry();
    await stock.take(first);
    await stock.settle({ ...first, outcome: NOT_APPLIED });
    const movement = { ...MOVEMENT, quantity: 7, branch: "02" };
    expect(await stock.take({ ...first, generation: 4, token: "b", movement })).toEqual({ kind: "taken" });
    expect(await stock.take({ ...first, generation: 4, token: "b" })).toMatchObject({
      kind: "different",
      claimed: movement,
    });
  });

  it("counts as applied when a late answer of its try says so, so that no further try is sent", async () => {
    const first = firstTry();
    await stock.take(first);
    await stock.settle({ ...first, outcome: NOT_APPLIED });
    expect(await stock.settle({ ...first, outcome: APPLIED })).toBe("contradicted");
    expect(await stock.take({ ...first, generation: 2, token: "b" })).toEqual(APPLIED);
  });

  it("is told once to count as applied, however often the answer of an earlier try is reported", async () => {
    const first = firstTry();
    await stock.take(first);
    await stock.settle({ ...first, outcome: NOT_APPLIED });
    const second = { ...first, generation: 2, token: "b" };
    await stock.take(second);
    await stock.settle({ ...second, outcome: NOT_APPLIED });
    for (const _time of [1, 2, 3]) expect(await stock.settle({ ...first, outcome: APPLIED })).toBe("contradicted");
    const told = (await movementEventsOf(test.outside, first)).filter(({ what }) => what === "contradicted");
    expect(told).toHaveLength(1);
  });

  it("keeps the next try held when the earlier one is answered late", async () => {
    const first = firstTry();
    await stock.take(first);
    await stock.settle({ ...first, outcome: NOT_APPLIED });
    await stock.take({ ...first, generation: 2, token: "b" });
    expect(await stock.settle({ ...first, outcome: NOT_APPLIED })).toBe("settled");
    expect(await stock.settle({ ...first, outcome: APPLIED })).toBe("contradicted");
    expect(await stock.read(first)).toMatchObject({ kind: "unknown", generation: 2 });
  });
});

describe("a settlement by a run whose claim the ledger does not know", () => {
  it("changes nothing, and keeps what was applied: as an event, or as contradicting the claim that it knows", async () => {
    const first = firstTry();
    expect(await stock.settle({ ...first, outcome: APPLIED })).toBe("not-held");
    expect(await stock.read(first)).toEqual({ kind: "none" });
    await stock.take(first);
    expect(await stock.settle({ ...first, token: "other", outcome: NOT_APPLIED })).toBe("settled");
    expect(await stock.settle({ ...first, generation: 2, outcome: NOT_APPLIED })).toBe("settled");
    expect(await stock.settle({ ...first, token: "other", outcome: APPLIED })).toBe("contradicted");
    expect(await stock.read(first)).toMatchObject({ kind: "unknown", generation: 1 });
    const events = (await movementEventsOf(test.outside, first)).map(({ what }) => what);
    expect(events).toEqual(["settled-without-claim", "taken", "contradicted"]);
  });
});

it("a claim keeps numbers as they are, and text with characters that the database does not store", async () => {
  const key = keyOf();
  const movement = { ...MOVEMENT, quantity: 0.1 + 0.2, unitPrice: 1234567.89 };
  const request = { ...firstTry(), ...key, movement, writer: { ...WRITER, workflowId: "a\0b \ud800 ä" } };
  expect(await stock.take(request)).toEqual({ kind: "taken" });
  expect(await stock.take(request)).toEqual({ kind: "taken" });
  expect(await stock.settle({ ...request, outcome: { kind: "not-applied", message: "x\0y" } })).toBe("settled");
});
