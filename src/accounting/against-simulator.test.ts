import { expect, onTestFinished, test } from "vitest";

import { simulatorUnderTest } from "../dev/simulator/test-support/simulator-under-test.ts";
import { createDispatchers, createTransport } from "../http/transport.ts";
import { createAccountingClient } from "./client.ts";
import { parseAccountingDialect } from "./dialect.ts";

/** Other names than the defaults, so that nothing agrees by chance. */
const DIALECT = {
  billPayments: { page: "p", limit: "n", status: "state", sortBy: "by", sortDirection: "way", paymentMethod: "how" },
  companies: { list: "companies" },
  signature: { query: true },
};

async function underTest({ clientSecret = "cs_simulator", nowMs = Date.now } = {}) {
  const scenario = { accounting: { generatedBillPayments: 230 } };
  const simulator = await simulatorUnderTest({ scenario, accountingDialect: DIALECT });
  simulator.accounting.changeSettings({ requireSignature: true });
  const dispatchers = createDispatchers();
  onTestFinished(() => dispatchers.close());
  const client = createAccountingClient({
    baseUrl: simulator.accounting.url,
    apiKey: { reveal: () => "sk_development_simulator" },
    clientSecret: { reveal: () => clientSecret },
    dialect: parseAccountingDialect(DIALECT),
    transport: createTransport(dispatchers),
    timeoutMs: 5_000,
    nowMs,
  });
  return { simulator, client };
}

test("every operation is signed so that the simulator's own check accepts it", async () => {
  const { simulator, client } = await underTest();
  expect(JSON.stringify((await client.listCompanies()).data)).toContain("Duka la Mfano");
  expect((await client.processSyncBatch("batch_1")).data).toEqual({ message: "The batch was processed." });
  const read: string[] = [];
  const input = { limit: 100, sortBy: "createdAt", sortDirection: "asc" } as const;
  for (let page = 1, more = true; more; page++) {
    const { data } = await client.listBillPayments({ ...input, page });
    read.push(...data.billPayments.map(({ id }) => id));
    more = data.hasNextPage;
  }
  expect(read).toEqual(simulator.accounting.billPayments().map(({ body }) => body.id));
  const synced = await client.listBillPayments({ limit: 1, status: "synced", paymentMethod: "cash" });
  const expected = simulator.accounting
    .billPayments()
    .filter(({ status, method }) => status === "synced" && method === "cash");
  expect(synced.data.total).toBe(expected.length);
  expect(simulator.accounting.calls().every(({ signed, status }) => signed && status === 200)).toBe(true);
});

test.each([
  ["another application's secret", { clientSecret: "cs_other" }],
  ["a clock that is six minutes behind", { nowMs: () => Date.now() - 360_000 }],
  ["a clock that is six minutes ahead", { nowMs: () => Date.now() + 360_000 }],
])("a request under %s is refused", async (_what, options) => {
  const { client } = await underTest(options);
  await expect(client.listCompanies()).rejects.toMatchObject({ name: "AccountingApiError", status: 401 });
});
