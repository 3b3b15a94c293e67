import { expect, test } from "vitest";

import { type Attention, RESOLVED_BY, type SaleOutcome } from "../../contract/index.ts";
import { balanceLines, outcomeLine } from "./lines.ts";

const REJECTED: SaleOutcome = {
  stage: "rejected",
  sale: null,
  receipt: null,
  stockMovements: [],
  numberTaken: true,
  nextWait: 0,
};
const BY_ITSELF = "fiscalflow submits it again by itself";

test("the outcome of a rejected sale says that it is submitted again, while no operator is needed", () => {
  expect(outcomeLine(REJECTED)).toBe(`rejected, ${BY_ITSELF}`);
  const attention = { code: "rejected", message: "No.", sinceMs: 0, resolvedBy: RESOLVED_BY.rejected } as const;
  expect(outcomeLine({ ...REJECTED, attention })).toBe("rejected, needs an operator: rejected");
  expect(outcomeLine({ ...REJECTED, stage: "completed" })).toBe("completed");
});

test("the outcome of a rejected sale that is to be cancelled, or has ended, promises no submission", () => {
  const closed = { status: "terminated", atMs: 0 } as const;
  for (const ended of [{ cancelRequested: "a slip" }, { closed }])
    expect(outcomeLine({ ...REJECTED, ...ended })).not.toContain(BY_ITSELF);
});

const AT = "2026-11-23T07:00:00.000Z";
const BEFORE = { lastQuantityOnHand: 18, lastSeenAt: AT };
const AFTER = { laterQuantityOnHand: 14, laterSeenAt: AT, expectedIfApplied: 14, expectedIfNot: 16 };

function unknown(evidence: Record<string, unknown>): Attention {
  const about = { subject: "INV-1/item_tea/sold", message: "it was sent", sinceMs: 0 };
  return { code: "stock-unknown", ...about, resolvedBy: ["resolveStock"], evidence };
}

test("the balance lines show the balances before and after, and what they indicate", () => {
  expect(balanceLines(unknown({ ...BEFORE, ...AFTER, balanceSpeaks: "for" }))).toEqual([
    "Last balance before it was sent: 18 (2026-11-23 10:00 EAT).",
    "First balance after it: 14 (2026-11-23 10:00 EAT); 14 was expected if it was applied, 16 if not.",
    expect.stringMatching(/^The balance speaks for it: it was probably applied\. Other tills/),
  ]);
});

test("the balance lines show what is known so far", () => {
  expect(balanceLines(unknown(BEFORE))).toEqual(["Last balance before it was sent: 18 (2026-11-23 10:00 EAT)."]);
  // `whatToDo` says that none is known.
  expect(balanceLines(unknown({}))).toEqual([]);
  expect(balanceLines({ ...unknown(BEFORE), code: "stock-refused" })).toEqual([]);
});
