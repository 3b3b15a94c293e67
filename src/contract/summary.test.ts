import fc from "fast-check";
import { expect, test } from "vitest";

import { jsonBytes, plainLine } from "./plain-text.ts";
import { aboutWorkflow, boundedSummary } from "./ids.ts";

test("a summary is one line that Temporal takes, whatever the text", () => {
  const text = fc.oneof(fc.string({ unit: "binary", maxLength: 500 }), fc.string({ minLength: 150, maxLength: 260 }));
  fc.assert(
    fc.property(text, (any) => {
      const summary = boundedSummary(any);
      expect(jsonBytes(summary)).toBeLessThanOrEqual(200);
      expect(summary).not.toMatch(/[\n\r]/);
      const line = plainLine(any).replace(/\s+/g, " ");
      expect(summary === line || (summary.endsWith("…") && line.startsWith(summary.slice(0, -1)))).toBe(true);
    }),
  );
  expect(boundedSummary("Take 2 × Unga\nfrom stock")).toBe("Take 2 × Unga from stock");
  expect(boundedSummary("x".repeat(300))).toBe(`${"x".repeat(195)}…`);
});

test("a workflow says what it is, and whose", () => {
  expect(aboutWorkflow("sale", { businessId: "biz_1" }, "INV-1").staticSummary).toBe("Sale INV-1 of biz_1 (default)");
  expect(aboutWorkflow("syncBillPayments", { connection: "shop" }).staticSummary).toBe(
    "Synchronisation of bill payments (shop)",
  );
});
