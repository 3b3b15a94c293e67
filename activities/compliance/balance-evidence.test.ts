import { describe, expect, test } from "vitest";

import { lastBalance, laterBalance } from "./stock.ts";

const at = (quantityOnHand: number, atMs: number) => ({ quantityOnHand, atMs, referenceId: `INV-${atMs}/tea/sold` });
const deducted = (quantity: number, state: "applied" | "unknown" = "applied") => ({
  referenceId: "INV-2/tea/sold",
  action: "DEDUCT" as const,
  quantity,
  state,
});
const lost = { action: "DEDUCT" as const, quantity: 3 };

describe("the balance around an unknown movement", () => {
  test("shows the quantity on hand before the movement, and when it was read", () => {
    expect(lastBalance({ before: at(10, 0), between: [] })).toEqual({
      lastQuantityOnHand: 10,
      lastSeenAt: "1970-01-01T00:00:00.000Z",
    });
    expect(lastBalance(undefined)).toEqual({});
  });

  test("has no balance after the movement until a later answer has one", () => {
    expect(laterBalance({ before: at(10, 0), between: [] }, lost)).toBeUndefined();
  });

  test("supports the movement where the goods are gone", () => {
    const balance = { before: at(10, 0), after: at(5, 9), between: [deducted(2)] };
    expect(laterBalance(balance, lost)).toMatchObject({
      laterQuantityOnHand: 5,
      expectedIfApplied: 5,
      expectedIfNot: 8,
      balanceSpeaks: "for",
    });
  });

  test("contradicts the movement where the goods are still there", () => {
    const balance = { before: at(10, 0), after: at(8, 9), between: [deducted(2)] };
    expect(laterBalance(balance, lost)).toMatchObject({ balanceSpeaks: "against" });
  });

  test("compares as decimals, not as binary fractions", () => {
    const balance = { before: at(0.3, 0), after: at(0.1, 9), between: [deducted(0.1)] };
    expect(laterBalance(balance, { action: "DEDUCT", quantity: 0.1 })).toMatchObject({ balanceSpeaks: "for" });
  });

  test.each([
    ["somebody else moved goods", { before: at(10, 0), after: at(1, 9), between: [deducted(2)] }],
    [
      "another movement between is unknown too",
      { before: at(10, 0), after: at(5, 9), between: [deducted(2), deducted(3, "unknown")] },
    ],
    ["nothing was seen before", { after: at(5, 9), between: [deducted(2)] }],
  ])("is inconclusive where %s", (_, balance) => {
    expect(laterBalance(balance, lost)).toMatchObject({ balanceSpeaks: "neither" });
  });
});
