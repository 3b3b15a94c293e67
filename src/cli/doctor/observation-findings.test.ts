import { expect, test } from "vitest";

import { loadConfig } from "../../config/index.ts";
import type { KeptObservation } from "../../ledger/index.ts";
import { observationFindings } from "./observation-findings.ts";

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

test("an observation is a warning that says how often and since when, and which setting to change", () => {
  expect(observationFindings([SEEN], configured({}))).toEqual([
    {
      check: "connection default, answers",
      level: "warning",
      message: `${SEEN.message} (seen 12 times since 2026-11-20T09:00Z, last at 2026-11-21T10:30Z)`,
      todo: "set stock.report in COMPLIANCE_DIALECT to the name that the service's answers use, or to null to read nothing",
    },
  ]);
});

test("an observation of a setting that has changed since, or of a connection that is gone, is not shown", () => {
  expect(observationFindings([SEEN], configured({ stock: { report: "tax" } }))).toEqual([]);
  expect(observationFindings([{ ...SEEN, connection: "closed" }], configured({}))).toEqual([]);
});
