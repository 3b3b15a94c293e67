import { expect, onTestFinished, test } from "vitest";

import { loadConfig } from "../../config/index.ts";
import type { KeptObservation } from "../../ledger/index.ts";
import { createTestLedger } from "../../ledger/test-support/create-test-ledger.ts";
import {
  branchHoldFindings,
  checkLedger,
  disputeFinding,
  observationFindings,
  secondDocumentFinding,
} from "./check-ledger.ts";

const HOLD = {
  connection: "default",
  businessId: "biz_1",
  referenceId: "INV-1/item_tea/sold",
  sentAs: '"branchId" by id',
  asked: "branch_2",
  answered: "branch_1",
  heldAtMs: Date.parse("2026-11-20T09:00:00Z"),
};

const configured = (dialect: unknown, ledgerUrl = "postgres://127.0.0.1/none") =>
  loadConfig({
    env: {
      COMPLIANCE_BASE_URL: "http://127.0.0.1:9",
      COMPLIANCE_API_KEY: "cmp_sk_test_nobody",
      COMPLIANCE_BUSINESS_ID: "biz_1",
      COMPLIANCE_DIALECT: JSON.stringify(dialect),
      LEDGER_URL: ledgerUrl,
    },
  });

test("a live key whose ledger is on this host alone is a fault that says how to move it", async () => {
  const withKey = (key: string) =>
    loadConfig({
      env: {
        COMPLIANCE_BASE_URL: "https://api.example.com",
        COMPLIANCE_API_KEY: key,
        COMPLIANCE_BUSINESS_ID: "biz_1",
        FISCALFLOW_HOME: "/nowhere/at/all",
      },
    });
  const [finding, ...others] = await checkLedger(withKey("cmp_sk_live_nobody"));
  expect(finding).toMatchObject({ level: "fault", todo: expect.stringContaining("fiscalflow ledger move") });
  expect(finding?.message).toContain("1 connection (default)");
  expect(others.map(({ level }) => level)).toEqual(["ok"]);
  expect((await checkLedger(withKey("cmp_sk_test_nobody"))).map(({ level }) => level)).toEqual(["ok"]);
});

test("tables that a newer version has changed are a fault that says to upgrade", async () => {
  const made = await createTestLedger();
  onTestFinished(() => made.drop());
  await made.outside.query("update fiscalflow_schema set version = 9, oldest = 8");
  expect(await checkLedger(configured({}, made.url))).toEqual([
    {
      check: "ledger",
      level: "fault",
      message: expect.stringContaining("brought to version 9 by a newer fiscalflow") as string,
      todo: expect.stringMatching("^install the fiscalflow that has changed the tables, or a later one") as string,
    },
  ]);
});

test("an open hold is a warning with both branches, the movement that found it, since when, and what lifts it", () => {
  const [finding, ...others] = branchHoldFindings([HOLD], configured({}));
  expect(others).toEqual([]);
  expect(finding).toMatchObject({ check: "connection default, business biz_1, stock", level: "warning" });
  expect(finding?.message).toBe(
    'no movement to a named branch is sent since 2026-11-20 12:00 EAT: the answer to INV-1/item_tea/sold named branch "branch_1" where ' +
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

const SEEN: KeptObservation = {
  service: "compliance",
  connection: "default",
  kind: "not-read",
  subject: "stock.report",
  value: "fiscal",
  message: 'The answer to a stock movement has no field "fiscal"',
  count: 12,
  firstSeenAtMs: Date.parse("2026-11-20T09:00:00Z"),
  lastSeenAtMs: Date.parse("2026-11-21T10:30:00Z"),
};

test("an observation is a warning that says how often and since when, and which setting to change", () => {
  expect(observationFindings([SEEN], configured({}))).toEqual([
    {
      check: "connection default, answers",
      level: "warning",
      message: `${SEEN.message} (seen 12 times since 2026-11-20 12:00 EAT, last at 2026-11-21 13:30 EAT)`,
      todo: "set stock.report in COMPLIANCE_DIALECT to the name that the service's answers use, or to null to read nothing",
    },
  ]);
});

test("an observation of a setting that has changed since, or of a connection that is gone, is not shown", () => {
  expect(observationFindings([SEEN], configured({ stock: { report: "tax" } }))).toEqual([]);
  expect(observationFindings([{ ...SEEN, connection: "closed" }], configured({}))).toEqual([]);
});

test("a movement that was decided, and answered otherwise, is a warning that says both", () => {
  const finding = disputeFinding({
    connection: "default",
    businessId: "biz_1",
    referenceId: "INV-1/item_tea/sold",
    atMs: Date.parse("2026-11-20T09:00:00Z"),
    state: "applied",
    decision: { applied: false, note: "not in the journal", atMs: 1 },
    outcome: { kind: "applied", movementId: "mov_1", sentAtMs: 1 },
  });
  expect(finding).toMatchObject({
    level: "warning",
    message:
      "the movement INV-1/item_tea/sold was decided as not applied, and a late answer of 2026-11-20 12:00 EAT says applied (mov_1)",
  });
});

test("a second document of a number is a warning that names both", () => {
  const atMs = Date.parse("2026-11-20T09:00:00Z");
  const workflowId = "sale/default/biz_1/INV-1";
  expect(secondDocumentFinding({ workflowId, recorded: "sale_1", reported: "sale_2", atMs })).toMatchObject({
    check: workflowId,
    level: "warning",
    message: "the document sale_1 counts, and sale_2 was reported for the same number, last at 2026-11-20 12:00 EAT",
  });
});
