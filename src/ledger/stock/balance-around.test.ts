import { afterAll, beforeAll, expect, it } from "vitest";
import type { AppliedMovement } from "../../contract/index.ts";
import { createTestLedger, type TestLedger } from "../test-support/create-test-ledger.ts";
import { APPLIED, firstTry, MOVEMENT } from "../test-support/movements.ts";
import type { ClaimedMovement, TakeRequest } from "../index.ts";

let test: TestLedger;
beforeAll(async () => {
  test = await createTestLedger();
});
afterAll(() => test.drop());

/** Movements of one item, by their references. */
function ofOneItem(itemId: string) {
  const { stock } = test.ledger;
  const requests = new Map<string, TakeRequest>();
  const requestOf = (referenceId: string): TakeRequest => {
    const request = requests.get(referenceId);
    if (request === undefined) throw new Error(`${referenceId} was not taken`);
    return request;
  };
  const planned = (name: string, movement: Partial<ClaimedMovement> = {}): TakeRequest => {
    const request = {
      ...firstTry(),
      referenceId: `${itemId}-${name}`,
      movement: { ...MOVEMENT, itemId, ...movement },
    };
    requests.set(name, request);
    return request;
  };
  return {
    async take(name: string, movement: Partial<ClaimedMovement> = {}): Promise<void> {
      expect(await stock.take(planned(name, movement))).toEqual({ kind: "taken" });
    },
    async applied(name: string, outcome: Partial<AppliedMovement> = {}): Promise<void> {
      await stock.settle({ ...requestOf(name), outcome: { ...APPLIED, quantityOnHand: undefined, ...outcome } });
    },
    async decided(name: string): Promise<void> {
      await stock.decide({ ...requestOf(name), decision: { applied: true, note: "seen", atMs: 1 } });
    },
    /** Of a movement whose claim the database does not have. */
    async decidedWithoutClaim(name: string): Promise<void> {
      planned(name);
      await this.decided(name);
    },
    around: async (name: string) => {
      const evidence = await stock.balanceAround(requestOf(name));
      const short = (referenceId: string): string => referenceId.slice(itemId.length + 1);
      return (
        evidence && {
          before: evidence.before && [short(evidence.before.referenceId), evidence.before.quantityOnHand],
          after: evidence.after && [short(evidence.after.referenceId), evidence.after.quantityOnHand],
          between: evidence.between.map(({ referenceId, state }) => [short(referenceId), state]),
        }
      );
    },
  };
}

it("the balance evidence is the newest balance before, the oldest after, and the movements between", async () => {
  const item = ofOneItem("tea");
  for (const [name, quantityOnHand] of [
    ["a", 100],
    ["b", 98],
  ] as const) {
    await item.take(name);
    await item.applied(name, { quantityOnHand });
  }
  await item.take("silent");
  await item.applied("silent");
  await item.take("x");
  await item.take("unknown");
  await item.take("c", { action: "ADD", quantity: 4 });
  await item.applied("c", { quantityOnHand: 95, sentAtMs: 77 });
  await item.take("d");
  await item.applied("d", { quantityOnHand: 90 });
  expect(await item.around("x")).toEqual({
    before: ["b", 98],
    after: ["c", 95],
    between: [
      ["silent", "applied"],
      ["unknown", "unknown"],
      ["c", "applied"],
    ],
  });
  const evidence = await test.ledger.stock.balanceAround({ ...firstTry(), referenceId: "tea-x" });
  expect(evidence?.after).toEqual({ quantityOnHand: 95, atMs: 77, referenceId: "tea-c" });
  expect(evidence?.between.at(-1)).toEqual({ referenceId: "tea-c", action: "ADD", quantity: 4, state: "applied" });
});

it("there is no balance evidence without a claim, or without a balance", async () => {
  const item = ofOneItem("salt");
  await item.take("x");
  await item.take("other");
  await item.applied("other");
  expect(await item.around("x")).toBeUndefined();
  expect(await test.ledger.stock.balanceAround(firstTry())).toBeUndefined();
  const closed = firstTry();
  await test.ledger.stock.readOrClose(closed);
  expect(await test.ledger.stock.balanceAround(closed)).toBeUndefined();
});

it("a movement that was in flight when a balance was answered is placed on neither side of it", async () => {
  const item = ofOneItem("rice");
  await item.take("slow");
  await item.take("before");
  await item.applied("before", { quantityOnHand: 50 });
  await item.applied("slow", { quantityOnHand: undefined });
  await item.take("x");
  await item.take("after");
  await item.take("overtaking");
  await item.applied("overtaking");
  await item.applied("after", { quantityOnHand: 40 });
  expect(await item.around("x")).toEqual({
    before: ["before", 50],
    after: ["after", 40],
    between: [
      ["slow", "unknown"],
      ["after", "applied"],
      ["overtaking", "unknown"],
    ],
  });
});

it("a movement that an operator decided without a claim is settled by that, and none of a later one's evidence", async () => {
  const item = ofOneItem("orphaned");
  await item.decidedWithoutClaim("orphan");
  for (const [name, quantityOnHand] of [
    ["a", 100],
    ["b", undefined],
    ["c", 97],
  ] as const) {
    await item.take(name);
    if (quantityOnHand !== undefined) await item.applied(name, { quantityOnHand });
  }
  expect((await item.around("b"))?.between.map(([name]) => name)).not.toContain("orphan");
});

it("a movement that an operator decided as applied counts at the time of its claim", async () => {
  const item = ofOneItem("maize");
  await item.take("before");
  await item.applied("before", { quantityOnHand: 50 });
  await item.take("x");
  await item.take("decided");
  await item.take("after");
  await item.applied("after", { quantityOnHand: 40 });
  await item.decided("decided");
  expect((await item.around("x"))?.between).toEqual([
    ["decided", "applied"],
    ["after", "applied"],
  ]);
});

it("the balance evidence is per branch, by the branch of the answer where there is one", async () => {
  const item = ofOneItem("milk");
  await item.take("first", {});
  await item.applied("first", { quantityOnHand: 10, branchId: "00" });
  await item.take("second", { branch: "01" });
  await item.applied("second", { quantityOnHand: 20, branchId: "01" });
  await item.take("x");
  await item.take("y", { branch: "01" });
  expect((await item.around("x"))?.before).toEqual(["first", 10]);
  expect((await item.around("y"))?.before).toEqual(["second", 20]);
  await item.take("named", { branch: "00" });
  await item.applied("named", { branchId: "00" });
  expect((await item.around("named"))?.before).toEqual(["first", 10]);
});

it("the balance evidence of a return that names its branch counts the sales that name none, and the other way round", async () => {
  const item = ofOneItem("flour");
  await item.take("sold");
  await item.applied("sold", { quantityOnHand: 28, branchId: "00" });
  await item.take("returned", { action: "ADD", branch: "00" });
  await item.take("next");
  await item.applied("next", { quantityOnHand: 27, branchId: "00" });
  expect(await item.around("returned")).toEqual({
    before: ["sold", 28],
    after: ["next", 27],
    between: [["next", "applied"]],
  });
  await item.decided("returned");
  await item.take("again", { action: "ADD", branch: "00" });
  await item.applied("again", { quantityOnHand: 29, branchId: "00" });
  await item.take("lost");
  await item.take("elsewhere", { branch: "01" });
  await item.applied("elsewhere", { quantityOnHand: 5, branchId: "01" });
  expect(await item.around("lost")).toEqual({ before: ["again", 29], after: undefined, between: [] });
});
