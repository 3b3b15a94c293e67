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

test("fiscalflow events --follow waits for the first event of a business that is configured", async () => {
  const stop = new AbortController();
  setTimeout(() => void sell({ connection: "default", businessId: "biz_quiet" }), 100);
  const said = await events(["--follow"], {
    signal: stop.signal,
    onOutput: (text) => {
      if (text.includes('"number":1')) stop.abort();
    },
  });
  expect(said.stdout).toContain('"subject":"sale INV-1"');
});
