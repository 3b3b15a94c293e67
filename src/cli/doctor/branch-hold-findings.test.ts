import { expect, test } from "vitest";

import { loadConfig } from "../../config/index.ts";
import { branchHoldFindings } from "./branch-hold-findings.ts";

const HOLD = {
  connection: "default",
  businessId: "biz_1",
  referenceId: "INV-1/item_tea/sold",
  sentAs: '"branchId" by id',
  asked: "branch_2",
  answered: "branch_1",
  heldAtMs: Date.parse("2026-11-20T09:00:00Z"),
};

const configured = (dialect: unknown) =>
  loadConfig({
    env: {
      COMPLIANCE_BASE_URL: "http://127.0.0.1:9",
      COMPLIANCE_API_KEY: "cmp_sk_test_nobody",
      COMPLIANCE_BUSINESS_ID: "biz_1",
      COMPLIANCE_DIALECT: JSON.stringify(dialect),
      LEDGER_URL: "postgres://127.0.0.1/none",
    },
  });

test("an open hold is a warning with both branches, the movement that found it, since when, and what lifts it", () => {
  const [finding, ...others] = branchHoldFindings([HOLD], configured({}));
  expect(others).toEqual([]);
  expect(finding).toMatchObject({ check: "connection default, business biz_1, stock", level: "warning" });
  expect(finding?.message).toBe(
    'no movement to a named branch is sent since 2026-11-20T09:00Z: the answer to INV-1/item_tea/sold named branch "branch_1" where ' +
      '"branch_2" was asked for',
  );
  expect(finding?.todo).toMatch(/sale acknowledge.*sale retry INVOICE --note.*stock\.branch.*COMPLIANCE_DIALECT/);
});

test("a hold of a connection that is gone, or under a branch name that has changed since, is not shown", () => {
  expect(branchHoldFindings([{ ...HOLD, connection: "closed" }], configured({}))).toEqual([]);
  expect(branchHoldFindings([HOLD], configured({ stock: { branch: "location" } }))).toEqual([]);
  const notSent = { ...HOLD, sentAs: "not sent" };
  expect(branchHoldFindings([notSent], configured({ stock: { branch: null } }))).toEqual([]);
});
