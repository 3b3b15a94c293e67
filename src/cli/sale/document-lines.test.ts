import { expect, test } from "vitest";

import { RESOLVED_BY, type SaleOutcome } from "../../contract/index.ts";
import { outcomeLine } from "./document-lines.ts";

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
