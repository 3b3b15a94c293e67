import { expect, test } from "vitest";

import { ledgerOfSuite } from "../../ledger/test-support/create-test-ledger.ts";
import { documentOf, keepRecord, recordOf, someBusiness, WRITER } from "../../ledger/test-support/records.ts";
import { callCli, type CallOptions } from "../test-support/call-cli.ts";

const suite = ledgerOfSuite();

/** The connection `default`, whose key is organisation-wide, has this business of its own. */
function events(argv: readonly string[], options: CallOptions = {}) {
  const env = {
    LEDGER_URL: suite.url,
    COMPLIANCE_BASE_URL: "https://compliance.example.com",
    COMPLIANCE_API_KEY: "cmp_sk_test_nobody",
    COMPLIANCE_BUSINESS_ID: "biz_quiet",
  };
  return callCli(["events", "--json", ...argv], { env, ...options });
}

async function sell(business: ReturnType<typeof someBusiness>): Promise<void> {
  await keepRecord(suite.ledger, business, recordOf("INV-1", { document: documentOf("INV-1") }), WRITER);
}

const UNKNOWN =
  'Neither the ledger nor the configuration has a business "biz_nobody" of connection "default". Configured here: biz_quiet (connection default).';

test("fiscalflow events refuses a business that nobody knows, and takes one that is configured and has sold nothing", async () => {
  await sell(someBusiness());
  const refused = await events(["--business", "biz_nobody"]);
  expect(refused).toMatchObject({ exitCode: 2, stdout: "", stderr: expect.stringContaining(UNKNOWN) });
  expect(await events([])).toEqual({ exitCode: 0, stdout: "", stderr: "" });
});

test("fiscalflow events --follow says that nobody knows the business, and prints its first event all the same", async () => {
  const business = someBusiness();
  const stop = new AbortController();
  const said = await events(["--follow", "--business", business.businessId], {
    signal: stop.signal,
    onOutput: (text) => {
      if (text.includes("Waiting for its first event.")) void sell(business);
      if (text.includes('"number":1')) stop.abort();
    },
  });
  expect(said.stderr).toContain(UNKNOWN.replace("biz_nobody", business.businessId));
  expect(said.stdout).toContain('"subject":"sale INV-1"');
});
