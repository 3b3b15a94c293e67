import { afterEach, describe, expect, test } from "vitest";
import type { Respond } from "../http/test-support/stub-server.ts";
import { respondJson } from "../http/test-support/stub-server.ts";
import { composeCreateSale } from "./compose.ts";
import { parseDialect } from "./dialect.ts";
import { sampleSale } from "./test-support/samples.ts";
import { errorOf, startTestClient, TEST_KEY, type TestClient } from "./test-support/test-client.ts";

let running: TestClient | undefined;
afterEach(async () => {
  await running?.close();
  running = undefined;
});

async function start(...args: Parameters<typeof startTestClient>): Promise<TestClient> {
  running = await startTestClient(...args);
  return running;
}

const limits = { "X-RateLimit-Limit": "120", "X-RateLimit-Remaining": "119", "X-RateLimit-Reset": "30" };
const sale: Respond = (response) => respondJson(response, 200, { data: { sale: sampleSale() } }, limits);
const business = { businessId: "biz_1" };
const keyed = { idempotencyKey: "sale:INV-1001" };
const dialect = parseDialect();
const composedSale = composeCreateSale(dialect, "organisation", {
  businessId: "biz 1",
  traderInvoiceNumber: "INV-1001",
  lines: [{ itemId: "itm_1", quantity: 2, unitPrice: 116 }],
});

describe("every call", () => {
  test.each([
    ["x-api-key", undefined, { "x-api-key": TEST_KEY }],
    ["bearer", "bearer", { authorization: `Bearer ${TEST_KEY}` }],
  ] as const)("carries the key as %s", async (_form, auth, headers) => {
    const { client, server } = await start(sale, { auth });
    await client.getSale("sal_1", business);
    expect(server.requests[0]?.headers).toMatchObject(headers);
  });

  test("names the business with an organisation-wide key", async () => {
    const { client, server } = await start(sale);
    await client.getSale("sal/1", business);
    expect(server.requests[0]?.target).toBe("/v1/sales/sal%2F1?businessId=biz_1");
  });

  test("is refused before it is sent when an organisation-wide key names no business", async () => {
    const { client, server } = await start(sale);
    for (const call of [client.getSale("sal_1"), client.listItems(), client.pullPurchases({ businessId: "" })]) {
      expect(await errorOf(call)).toMatchObject({ name: "CallInputError", code: "missing-business-id" });
    }
    expect(server.requests).toHaveLength(0);
  });

  test("never names a business with a bound key", async () => {
    const { client, server } = await start(sale, { keyReach: "business" });
    await client.getSale("sal_1", business);
    expect(server.requests[0]?.target).toBe("/v1/sales/sal_1");
  });

  test("reports the quota, the times and the status in its result", async () => {
    const { client } = await start(sale);
    const { data, meta } = await client.getSale("sal_1", business);
    expect(data).toEqual(sampleSale());
    expect(meta).toMatchObject({
      operation: "getSale",
      status: 200,
      replayed: false,
      rateLimit: { limit: 120, remaining: 119, resetSeconds: 30 },
    });
    expect(meta.answeredAtMs).toBeGreaterThanOrEqual(meta.requestSentAtMs);
  });

  test("ends at the client's timeout, and at its signal", async () => {
    const silent = await start(() => undefined, { timeoutMs: 100 });
    expect(await errorOf(silent.client.getSale("sal_1", business))).toMatchObject({ code: "timeout", sent: "maybe" });
    const abort = new AbortController();
    const patient = await start(() => abort.abort(), { timeoutMs: 5_000 });
    const aborted = patient.client.listItems({ ...business, signal: abort.signal });
    expect(await errorOf(aborted)).toMatchObject({ code: "aborted", sent: "maybe" });
  });

  test.each([".", "..", ""])("refuses %j as an id, which would name another path", async (id) => {
    const { client } = await start(sale);
    expect(await errorOf(client.getSale(id, business))).toMatchObject({ code: "invalid-argument" });
  });
});

describe("a keyed write", () => {
  test("is sent verbatim, with its key, on a path and a query of its own", async () => {
    const { client, server } = await start((response) => respondJson(response, 201, { data: { sale: sampleSale() } }));
    await client.createSale(composedSale, keyed);
    await client.createSale(composedSale, keyed);
    const [first, second] = server.requests;
    expect(first).toMatchObject({
      method: "POST",
      target: "/v1/sales?businessId=biz%201",
      body: composedSale.bodyJson,
    });
    expect(first?.headers).toMatchObject({
      "idempotency-key": keyed.idempotencyKey,
      "content-type": "application/json",
    });
    expect(second?.body).toBe(first?.body);
  });

  test("of a sale carries no key where none is given", async () => {
    const { client, server } = await start((response) => respondJson(response, 201, { data: { sale: sampleSale() } }));
    await client.createSale(composedSale);
    expect(server.requests.map(({ headers }) => headers["idempotency-key"])).toEqual([undefined]);
  });

  test("accepts 200 only as a replay", async () => {
    let replayed = true;
    const respond: Respond = (response) =>
      respondJson(response, 200, { data: { sale: sampleSale() } }, replayed ? { "Idempotent-Replayed": "true" } : {});
    const { client } = await start(respond);
    expect((await client.createSale(composedSale, keyed)).meta.replayed).toBe(true);
    replayed = false;
    expect(await errorOf(client.createSale(composedSale, keyed))).toMatchObject({
      name: "UnexpectedAnswerError",
      status: 200,
      documentId: "sal_1",
    });
  });
});
