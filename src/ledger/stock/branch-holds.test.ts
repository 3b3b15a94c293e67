import { describe, expect, it } from "vitest";

import { ledgerOfSuite } from "../test-support/create-test-ledger.ts";
import { WRITER } from "../test-support/records.ts";

const test = ledgerOfSuite();

const movement = { itemId: "itm_1", action: "DEDUCT", quantity: 2, unitPrice: 116, branch: "branch_2" } as const;
const OTHER = { sentAs: '"branchId" by id', asked: "branch_2", answered: "branch_1", message: "look" };

let connections = 0;
/** A connection with a movement that was answered with another branch. */
async function heldConnection() {
  const connection = `held-${++connections}`;
  const { stock } = test.ledger;
  const take = (referenceId: string, more: object = {}) =>
    stock.take({
      connection,
      businessId: "biz_1",
      referenceId,
      generation: 1,
      token: referenceId,
      execution: `execution of ${referenceId}`,
      underWayForMs: 0,
      scheduledAtMs: 0,
      of: { type: "sale", number: "INV-1", purpose: "sold" },
      movement,
      branchSentAs: OTHER.sentAs,
      writer: WRITER,
      nowMs: 1,
      ...more,
    });
  const key = { connection, businessId: "biz_1", referenceId: "first" };
  const settleOther = (referenceId: string, other = OTHER) =>
    stock.settle({
      ...key,
      referenceId,
      generation: 1,
      token: referenceId,
      outcome: { kind: "applied", movementId: "mov_1", branchId: other.answered, otherBranch: other, sentAtMs: 1 },
      writer: WRITER,
    });
  await take("first");
  await take("under way");
  await settleOther("first");
  return { connection, key, stock, take, settleOther };
}

describe("a connection with a movement that was answered with another branch", () => {
  it("sends no further movement to a named branch, and other movements as before", async () => {
    const { take, stock, connection } = await heldConnection();
    const pair = { sentAs: OTHER.sentAs, asked: "branch_2", answered: "branch_1" };
    const hold = { referenceId: "first", businessId: "biz_1", ...pair };
    expect(await take("second")).toEqual({ kind: "branch-held", hold });
    expect(await take("of another business", { businessId: "biz_2" })).toMatchObject({ kind: "branch-held" });
    expect(await take("to the first branch", { branchSentAs: undefined })).toEqual({ kind: "taken" });
    expect(await take("second", { connection: "another" })).toEqual({ kind: "taken" });
    expect(await stock.branchHold(connection, OTHER.sentAs)).toEqual(hold);
    const listed = (await stock.openBranchHolds()).filter((one) => one.connection === connection);
    expect(listed).toEqual([{ ...hold, connection, heldAtMs: expect.any(Number) }]);
  });

  it("still returns the outcome of a movement that was taken before", async () => {
    const { take } = await heldConnection();
    expect(await take("first", { token: "of another run" })).toMatchObject({ kind: "applied", otherBranch: OTHER });
    expect(await take("under way", { token: "of another run" })).toMatchObject({ kind: "unknown" });
    expect(await take("under way")).toEqual({ kind: "taken" });
  });

  it("sends them again under another name or form of the branch", async () => {
    const { take } = await heldConnection();
    expect(await take("second", { branchSentAs: '"location" by id' })).toEqual({ kind: "taken" });
  });

  it("sends them again once an operator has acknowledged it, and is not held by the same two branches again", async () => {
    const { take, settleOther, stock, key, connection } = await heldConnection();
    expect(await stock.isBranchAcknowledged(key, OTHER)).toBe(false);
    await stock.acknowledgeBranch(key, OTHER, { note: "looked", atMs: 5 });
    await stock.acknowledgeBranch(key, OTHER, { note: "looked", atMs: 5 });
    expect(await stock.isBranchAcknowledged(key, OTHER)).toBe(true);
    expect(await take("second")).toEqual({ kind: "taken" });
    await settleOther("second");
    expect(await stock.branchHold(connection, OTHER.sentAs)).toBeUndefined();
    expect((await stock.openBranchHolds()).filter((one) => one.connection === connection)).toEqual([]);
    expect(await take("third")).toEqual({ kind: "taken" });
    await settleOther("third", { ...OTHER, answered: "branch_3" });
    const hold = { referenceId: "third", answered: "branch_3" };
    expect(await take("fourth")).toMatchObject({ kind: "branch-held", hold });
  });
});
