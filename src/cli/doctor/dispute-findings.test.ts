import { expect, test } from "vitest";

import { disputeFindings, secondDocumentFindings } from "./dispute-findings.ts";

test("a movement that was decided, and answered otherwise, is a warning that says both", () => {
  const [finding] = disputeFindings([
    {
      connection: "default",
      businessId: "biz_1",
      referenceId: "INV-1/item_tea/sold",
      atMs: Date.parse("2026-11-20T09:00:00Z"),
      state: "applied",
      decision: { applied: false, note: "not in the journal", atMs: 1 },
      outcome: { kind: "applied", movementId: "mov_1", sentAtMs: 1 },
    },
  ]);
  expect(finding).toMatchObject({
    level: "warning",
    message:
      "the movement INV-1/item_tea/sold was decided as not applied, and a late answer of 2026-11-20T09:00Z says applied (mov_1)",
  });
});

test("a second document of a number is a warning that names both", () => {
  const atMs = Date.parse("2026-11-20T09:00:00Z");
  const workflowId = "sale/default/biz_1/INV-1";
  expect(secondDocumentFindings([{ workflowId, recorded: "sale_1", reported: "sale_2", atMs }])).toMatchObject([
    {
      check: workflowId,
      level: "warning",
      message: "the document sale_1 counts, and sale_2 was reported for the same number, last at 2026-11-20T09:00Z",
    },
  ]);
});
