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

it("fiscalflow report counts who needs an operator, and the money at risk, over more documents than it lists", async () => {
  const business = someBusiness();
  const document = documentOf("INV-1", {
    status: "failed",
    receipt: null,
    totals: { total: 0.1, taxableAmount: 0.1, taxAmount: 0 },
  });
  const attention = { code: "rejected", message: "no", sinceMs: 1_795_000_000_000, resolvedBy: [] } as const;
  const record = recordOf("INV-1", { document, movements: [], stage: "rejected", attentions: [attention] });
  await keepRecord(test.ledger, business, record, WRITER);
  // Older ones, which wait for the authority, fill the list.
  await test.outside.query(
    `insert into documents
     select (jsonb_populate_record(d, jsonb_build_object('number', 'OLD-' || n, 'attentions', '[]'::jsonb,
       'needs_person_since', null, 'started_at', d.needs_person_since - interval '1 day'))).*
     from documents as d, generate_series(1, 1003) as n where d.business_id = $1`,
    [business.businessId],
  );
  const env = { LEDGER_URL: test.url };
  const of = ["--business", business.businessId];
  const page = await callCli(["report", "day", "--format", "html", ...of], { env });
  expect(page.stdout).toContain("<small>1004 open; need an operator: 1</small>");
  expect(page.stdout).toMatch(/<span>nobody yet<\/span><span>[^/]*<\/i><\/span><span>100\.30<\/span>/);
  expect(page.stdout).toMatch(/<span>rejected<\/span><span>[^/]*<\/i><\/span><span>0\.10<\/span>/);
  const json = await callCli(["report", "day", "--json", ...of], { env });
  expect(JSON.parse(json.stdout).businesses).toMatchObject([
    {
      moreOpen: 4,
      atRisk: "100.4",
      openByCode: [
        { code: null, count: 1003, atRisk: "100.3" },
        { code: "rejected", count: 1, atRisk: "0.1" },
      ],
    },
  ]);
});
