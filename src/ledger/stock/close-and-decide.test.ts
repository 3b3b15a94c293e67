import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { movementEventsOf } from "../test-support/claim-events.ts";
import { createTestLedger, type TestLedger } from "../test-support/create-test-ledger.ts";
import { APPLIED, firstTry, heldBy, MOVEMENT, NOT_APPLIED, taking } from "../test-support/movements.ts";
import type { DecideRequest, StockClaims, TakeRequest } from "../index.ts";

let test: TestLedger;
let stock: StockClaims;
beforeAll(async () => {
  test = await createTestLedger();
  ({ stock } = test.ledger);
});
afterAll(() => test.drop());

function decided(first: TakeRequest, applied: boolean): DecideRequest {
  const { token: _token, ...rest } = first;
  return { ...rest, decision: applied ? YES : NO };
}
const COUNTED = { note: "counted the shelf", by: "amina", atMs: 1_700_000_500_000 };
const YES = { ...COUNTED, applied: true };
const NO = { ...COUNTED, applied: false };
/** What is known after a decision on the first try. */
const known = (applied: boolean) =>
  applied ? { kind: "decided-applied", decision: YES } : { kind: "superseded", generation: 1, decision: NO };

describe("an activity that ended without an answer", () => {
  it("and had taken nothing closes the try, so that a late attempt sends nothing", async () => {
    const first = firstTry();
    expect(await stock.readOrClose(first)).toEqual({ kind: "superseded", generation: 1 });
    expect(await stock.readOrClose(first)).toEqual({ kind: "superseded", generation: 1 });
    expect(await stock.read(first)).toEqual({ kind: "superseded", generation: 1 });
    expect(await stock.take(first)).toEqual({ kind: "superseded", generation: 1 });
    expect(await stock.take({ ...first, generation: 2 })).toEqual({ kind: "taken" });
    expect((await movementEventsOf(test.outside, first)).map(({ what }) => what)).toEqual(["closed", "taken"]);
  });

  it("and had taken the claim leaves an unknown outcome until the answer arrives", async () => {
    const first = firstTry();
    await stock.take(first);
    expect(await stock.readOrClose({ ...first, nowMs: 5 })).toEqual(heldBy(first, 1));
    await stock.settle({ ...first, outcome: APPLIED });
    expect(await stock.readOrClose(first)).toEqual(APPLIED);
  });

  it("and whose movement was refused is known as not applied", async () => {
    const first = firstTry();
    await stock.take(first);
    await stock.settle({ ...first, outcome: NOT_APPLIED });
    expect(await stock.readOrClose(first)).toEqual({ kind: "superseded", generation: 1 });
  });

  it("in its second try closes that try, after the first was refused", async () => {
    const first = firstTry();
    await stock.take(first);
    await stock.settle({ ...first, outcome: NOT_APPLIED });
    expect(await stock.readOrClose({ ...first, generation: 2 })).toEqual({ kind: "superseded", generation: 2 });
    expect(await stock.take({ ...first, generation: 2, token: "late" })).toEqual({ kind: "superseded", generation: 2 });
  });

  it("receives a newer generation than it asked for", async () => {
    const first = firstTry();
    await stock.take({ ...first, generation: 3 });
    expect(await stock.readOrClose(first)).toMatchObject({ kind: "unknown", generation: 3 });
  });

  it("but reports an applied movement later contradicts its closed try, and counts", async () => {
    const first = firstTry();
    await stock.take(first);
    await stock.settle({ ...first, outcome: NOT_APPLIED });
    await stock.readOrClose({ ...first, generation: 2 });
    expect(await stock.settle({ ...first, outcome: APPLIED })).toBe("contradicted");
    expect(await stock.read(first)).toEqual(APPLIED);
  });
});

describe("an operator's decision", () => {
  it("that it was applied settles it for everybody, with who and why", async () => {
    const first = firstTry();
    await stock.take(first);
    const settled = known(true);
    expect(await stock.decide(decided(first, true))).toEqual(settled);
    expect(await stock.decide(decided(first, true))).toEqual(settled);
    expect(await stock.take(first)).toEqual(settled);
    expect(await stock.readOrClose(first)).toEqual(settled);
    expect(await movementEventsOf(test.outside, first)).toHaveLength(2);
  });

  it("that it was not applied allows the next try", async () => {
    const first = firstTry();
    await stock.take(first);
    expect(await stock.decide(decided(first, false))).toEqual(known(false));
    expect(await stock.take(first)).toEqual(known(false));
    expect(await stock.read(first)).toEqual(known(false));
    expect(await stock.take({ ...first, generation: 2, token: "b" })).toEqual({ kind: "taken" });
    expect(await stock.read(first)).toEqual(heldBy(first, 2));
  });

  it.each([true, false])("is recorded where there is no claim: %s", async (applied) => {
    const first = firstTry();
    expect(await stock.decide(decided(first, applied))).toEqual(known(applied));
    expect(await stock.take(first)).toEqual(known(applied));
  });

  it.each([true, false])("is recorded on a closed try: %s", async (applied) => {
    const first = firstTry();
    await stock.readOrClose(first);
    expect(await stock.decide(decided(first, applied))).toEqual(known(applied));
    expect(await stock.read(first)).toEqual(known(applied));
  });

  it("on a closed try that it was applied names the movement", async () => {
    const first = firstTry();
    await stock.readOrClose(first);
    await stock.decide(decided(first, true));
    const movement = { ...MOVEMENT, quantity: 9 };
    expect(await stock.take({ ...first, movement })).toMatchObject({ kind: "different", claimed: MOVEMENT });
  });

  it("does not override the service's answer, which is returned", async () => {
    const [applied, refused] = [firstTry(), firstTry()];
    await stock.take(applied);
    await stock.settle({ ...applied, outcome: APPLIED });
    expect(await stock.decide(decided(applied, false))).toEqual(APPLIED);
    expect(await stock.decide(decided(applied, true))).toEqual(APPLIED);
    expect(await stock.read(applied)).toEqual(APPLIED);
    await stock.take(refused);
    await stock.settle({ ...refused, outcome: NOT_APPLIED });
    expect(await stock.decide(decided(refused, true))).toEqual({ kind: "superseded", generation: 1 });
    expect(await stock.decide(decided(refused, false))).toEqual({ kind: "superseded", generation: 1 });
    expect((await movementEventsOf(test.outside, refused)).map(({ what }) => what)).toContain("decision-refused");
  });

  it("is not reversed by another operator's", async () => {
    const [one, other] = [firstTry(), firstTry()];
    await stock.take(one);
    await stock.decide(decided(one, true));
    expect(await stock.decide(decided(one, false))).toEqual(known(true));
    await stock.take(other);
    await stock.decide(decided(other, false));
    expect(await stock.decide(decided(other, true))).toEqual(known(false));
  });

  it("about an older try than the newest comes too late", async () => {
    const first = firstTry();
    await stock.take(first);
    await stock.settle({ ...first, outcome: NOT_APPLIED });
    await stock.take({ ...first, generation: 2, token: "b" });
    for (const applied of [true, false]) expect(await stock.decide(decided(first, applied))).toEqual(heldBy(first, 2));
    expect(await stock.read(first)).toEqual(heldBy(first, 2));
  });

  it("on an earlier try is told with whatever became of a later one", async () => {
    const first = firstTry();
    await stock.take(first);
    await stock.decide(decided(first, false));
    const second = { ...first, generation: 2, token: "b" };
    await stock.take(second);
    await stock.settle({ ...second, outcome: NOT_APPLIED });
    expect(await stock.read(second)).toEqual({ kind: "superseded", generation: 2, decision: NO });
    const third = { ...first, generation: 3, token: "c" };
    await stock.take(third);
    await stock.settle({ ...third, outcome: APPLIED });
    expect(await stock.take(first)).toEqual({ ...APPLIED, decision: NO });
  });

  it("that agrees with a later answer is kept with it, and one that disagrees is disputed", async () => {
    const [right, wrong, alsoWrong] = [firstTry(), firstTry(), firstTry()];
    for (const [first, applied] of [
      [right, true],
      [wrong, false],
      [alsoWrong, true],
    ] as const) {
      await stock.take(first);
      await stock.decide(decided(first, applied));
    }
    expect(await stock.settle({ ...right, outcome: APPLIED })).toBe("settled");
    expect(await stock.read(right)).toEqual({ ...APPLIED, decision: YES });
    expect(await stock.settle({ ...wrong, outcome: APPLIED })).toBe("contradicted");
    expect(await stock.read(wrong)).toEqual({ ...APPLIED, decision: NO });
    expect(await stock.settle({ ...alsoWrong, outcome: NOT_APPLIED })).toBe("contradicted");
    expect(await stock.read(alsoWrong)).toEqual(known(true));
    expect((await movementEventsOf(test.outside, alsoWrong)).at(-1)).toMatchObject({
      what: "contradicted",
      detail: NOT_APPLIED,
    });
  });
});

describe("a movement whose execution may still be at it", () => {
  const firstFor = (underWayForMs: number): TakeRequest => ({ ...firstTry(), underWayForMs });
  const anotherOf = (first: TakeRequest): TakeRequest => ({
    ...first,
    ...taking(),
    writer: { ...first.writer, runId: "run-2" },
  });

  it("is not unknown, neither for its run nor for another one", async () => {
    const first = firstFor(60_000);
    await stock.take(first);
    for (const ask of [stock.readOrClose(first), stock.take(anotherOf(first))])
      expect(await ask).toEqual({
        kind: "in-progress",
        forMs: expect.toSatisfy((forMs: number) => forMs > 50_000 && forMs <= 60_000),
      });
    await stock.ended({ ...first, execution: "another" });
    expect(await stock.readOrClose(first)).toMatchObject({ kind: "in-progress" });
  });

  const ends = async (first: TakeRequest): Promise<unknown> => stock.ended(first);
  const lets = async (): Promise<void> => {};
  it.each([
    ["it has ended", 60_000, ends],
    ["its time is over", 0, lets],
  ])("is unknown once %s", async (_what, underWayForMs, come) => {
    const first = firstFor(underWayForMs);
    await stock.take(first);
    await come(first);
    expect(await stock.readOrClose(first)).toEqual(heldBy(first, 1));
    expect(await stock.take(anotherOf(first))).toEqual(heldBy(first, 1));
  });

  it("is what it came to as soon as that is written", async () => {
    const first = firstFor(60_000);
    await stock.take(first);
    await stock.settle({ ...first, outcome: NOT_APPLIED });
    expect(await stock.readOrClose(first)).toEqual({ kind: "superseded", generation: 1 });
    expect(await stock.take({ ...anotherOf(first), generation: 2, token: "b" })).toEqual({ kind: "taken" });
  });
});

it("closes movements, which nobody sends any more, and leaves those that are held or applied as they are", async () => {
  const [untaken, refused, held, applied] = [firstTry(), firstTry(), firstTry(), firstTry()];
  for (const one of [refused, held, applied]) await stock.take(one);
  await stock.settle({ ...refused, outcome: NOT_APPLIED });
  await stock.settle({ ...applied, outcome: APPLIED });
  await stock.close({ keys: [untaken, refused, held, applied], writer: untaken.writer, nowMs: 5 });
  expect(await stock.take(untaken)).toEqual({ kind: "superseded", generation: 1 });
  const next = { ...refused, ...taking(), generation: 2, token: "b" };
  expect(await stock.take(next)).toEqual({ kind: "superseded", generation: 2 });
  expect(await stock.read(held)).toMatchObject({ kind: "unknown" });
  expect(await stock.read(applied)).toEqual(APPLIED);
});
