import { expect, it } from "vitest";

import type { Attention } from "../../contract/index.ts";
import { balanceLines, contradiction } from "./attention-lines.ts";

const AT = "2026-11-23T07:00:00.000Z";
const BEFORE = { lastQuantityOnHand: 18, lastSeenAt: AT };
const AFTER = { laterQuantityOnHand: 14, laterSeenAt: AT, expectedIfApplied: 14, expectedIfNot: 16 };

function unknown(evidence: Record<string, unknown>): Attention {
  const about = { subject: "INV-1/item_tea/sold", message: "it was sent", sinceMs: 0 };
  return { code: "stock-unknown", ...about, resolvedBy: ["resolveStock"], evidence };
}

it("the balance lines show the balances before and after, and what they indicate", () => {
  expect(balanceLines(unknown({ ...BEFORE, ...AFTER, balanceSpeaks: "for" }))).toEqual([
    "Last balance before it was sent: 18 (2026-11-23 10:00 EAT).",
    "First balance after it: 14 (2026-11-23 10:00 EAT); 14 was expected if it was applied, 16 if not.",
    expect.stringMatching(/^The balance speaks for it: it was probably applied\. Other tills/),
  ]);
});

it("the balance lines show what is known so far", () => {
  expect(balanceLines(unknown(BEFORE))).toEqual(["Last balance before it was sent: 18 (2026-11-23 10:00 EAT)."]);
  // `whatToDo` says that none is known.
  expect(balanceLines(unknown({}))).toEqual([]);
  expect(balanceLines({ ...unknown(BEFORE), code: "stock-refused" })).toEqual([]);
});

it.each([
  ["for", false, "it is applied twice"],
  ["against", true, "the stock stays wrong"],
])(
  "an operator is warned where the balance speaks %s the movement, and the answer is applied: %s",
  (balanceSpeaks, applied, risk) => {
    expect(contradiction(unknown({ ...BEFORE, ...AFTER, balanceSpeaks }), applied)).toContain(risk);
  },
);

it.each([
  ["for", true],
  ["against", false],
  ["neither", false],
  ["neither", true],
])(
  "an operator is not warned where the balance speaks %s the movement, and the answer is applied: %s",
  (balanceSpeaks, applied) => {
    expect(contradiction(unknown({ ...BEFORE, ...AFTER, balanceSpeaks }), applied)).toBeUndefined();
  },
);
