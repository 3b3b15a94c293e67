import { expect, it } from "vitest";

import { ledgerOfSuite } from "../../ledger/test-support/create-test-ledger.ts";
import { documentOf, keepRecord, recordOf, someBusiness, WRITER } from "../../ledger/test-support/records.ts";
import { callCli } from "../test-support/call-cli.ts";

const test = ledgerOfSuite();
const INSTANT = /^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?\+03:00$/;

it("fiscalflow report and events tell every time in JSON as ISO 8601 with Nairobi's offset", async () => {
  const business = someBusiness();
  const document = documentOf("INV-1", { status: "pending", receipt: null });
  const attention = {
    code: "authority-slow",
    message: "It waits.",
    sinceMs: 1_795_000_000_000,
    resolvedBy: [],
  } as const;
  const record = recordOf("INV-1", { document, movements: [], stage: "awaiting-authority", attentions: [attention] });
  await keepRecord(test.ledger, business, record, WRITER);
  const env = { LEDGER_URL: test.url };
  const report = await callCli(["report", "day", "--json", "--business", business.businessId], { env });
  expect(report.stdout).not.toMatch(/Ms"/);
  const [{ open }] = JSON.parse(report.stdout).businesses;
  expect(open).toMatchObject([
    { startedAt: expect.stringMatching(INSTANT), attentions: [{ since: "2026-11-18T14:06:40+03:00" }] },
  ]);
  expect(open[0].since).toMatch(INSTANT);
  const events = await callCli(["events", "--json", "--business", business.businessId], { env });
  expect(JSON.parse(events.stdout.split("\n")[0] ?? "").at).toMatch(INSTANT);
});
