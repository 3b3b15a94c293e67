import { afterEach, describe, expect, test } from "vitest";
import { type Respond, respondJson } from "../http/test-support/stub-server.ts";
import { composeCreateSale } from "./compose.ts";
import { parseDialect } from "./dialect.ts";
import { UnexpectedAnswerError } from "../http/service-call.ts";
import { ComplianceApiError } from "./errors.ts";
import { sampleItem, sampleSale } from "./test-support/samples.ts";
import { errorOf, startTestClient, TEST_KEY, type TestClient } from "./test-support/test-client.ts";

let running: TestClient | undefined;
afterEach(async () => {
  await running?.close();
  running = undefined;
});

const business = { businessId: "biz_1" };

async function start(respond: Respond): Promise<TestClient> {
  running = await startTestClient(respond);
  return running;
}

async function apiErrorOf(call: Promise<unknown>): Promise<ComplianceApiError> {
  const error = await errorOf(call);
  if (error instanceof ComplianceApiError) return error;
  throw new Error("expected a ComplianceApiError", { cause: error });
}

const failing =
  (status: number, error: Record<string, unknown>, headers = {}): Respond =>
  (response) =>
    respondJson(response, status, { error: { code: "some_code", message: "Some words.", ...error } }, headers);

describe("an error of the API", () => {
  test("has its code, its message and its operation", async () => {
    const { client } = await start(failing(404, { code: "not_found", message: "No such sale." }));
    expect(await apiErrorOf(client.getSale("sal_1", business))).toMatchObject({
      name: "ComplianceApiError",
      meta: { operation: "getSale", replayed: false },
      status: 404,
      apiCode: "not_found",
      message: expect.stringContaining("No such sale."),
      envelope: true,
      extras: {},
      bodyExcerpt: "",
    });
  });

  test("keeps a complete sale and a complete item, and all other extras", async () => {
    const sale = sampleSale({ status: "failed" });
    const item = sampleItem({ registrationStatus: "PENDING", needs: { productType: true } });
    const extras = { sale, item, errors: ["line 1"], branches: ["00"], creditNoteId: "crn_1" };
    const { client } = await start(failing(422, extras));
    expect((await apiErrorOf(client.retrySale("sal_1", business))).extras).toEqual({
      ...extras,
      seenSale: { id: "sal_1", type: "sale" },
      seenItem: { registrationStatus: "PENDING", missing: ["productType"] },
    });
  });

  test("does not take a sale with an empty originalSaleId for a credit note", async () => {
    const sale = { id: "sal_1", originalSaleId: "" };
    const { client } = await start(failing(422, { sale }));
    expect((await apiErrorOf(client.retrySale("sal_1", business))).extras.seenSale).toEqual({ id: "sal_1" });
  });

  test.each([
    ["inside the envelope", (sale: unknown) => ({ error: { code: "c", message: "m", sale } })],
    ["beside the envelope", (sale: unknown) => ({ error: { code: "c", message: "m" }, sale })],
    ["in data", (sale: unknown) => ({ error: { code: "c", message: "m" }, data: { sale } })],
  ])("keeps the id of an incomplete sale, %s", async (_where, body) => {
    const { client } = await start((response) => respondJson(response, 422, body({ id: "sal_9", status: 3 })));
    const { extras } = await apiErrorOf(client.retrySale("sal_1", business));
    expect(extras.seenSale?.id).toBe("sal_9");
    expect(extras.sale).toBeUndefined();
  });

  test("of 429 has the quota and how long to wait", async () => {
    const headers = {
      "Retry-After": "17",
      "X-RateLimit-Limit": "120",
      "X-RateLimit-Remaining": "0",
      "X-RateLimit-Reset": "18",
    };
    const { client } = await start(failing(429, { code: "rate_limited" }, headers));
    expect(await apiErrorOf(client.listItems(business))).toMatchObject({
      meta: { retryAfterSeconds: 17, rateLimit: { limit: 120, remaining: 0, resetSeconds: 18 } },
    });
  });

  test("of 403 names the scope that the operation needs", async () => {
    const { client } = await start(failing(403, { code: "forbidden" }));
    const movement = { itemId: "i", action: "ADD", quantity: 1, unitPrice: 1, referenceId: "r" } as const;
    const composed = composeCreateSale(parseDialect(), "organisation", {
      ...business,
      traderInvoiceNumber: "INV-1",
      lines: [],
    });
    const key = { idempotencyKey: "sale:INV-1" };
    const calls: [Promise<unknown>, string][] = [
      [client.getSale("s", business), "sales:read"],
      [client.createSale(composed, key), "sales:write (presumably"],
      [client.createCreditNote(composed, key), "sales:write,"],
      [client.adjustStock(movement, business), "stock:write,"],
      [client.listItems(business), "catalog:read,"],
      [client.registerItem({ itemId: "i" }, business), "catalog:write,"],
      [client.listPurchases({}, business), "purchases:read,"],
    ];
    for (const [call, scope] of calls) expect((await apiErrorOf(call)).message).toContain(`needs the scope ${scope}`);
    expect((await apiErrorOf(client.listBusinesses())).message).toContain("which the document does not name");
  });

  test("without the API's envelope says so and keeps an excerpt", async () => {
    const { client } = await start((response) => response.writeHead(502).end(`<html>${"x".repeat(2_000)}</html>`));
    const error = await apiErrorOf(client.listItems(business));
    expect(error).toMatchObject({ status: 502, envelope: false, apiCode: undefined });
    expect(error.bodyExcerpt).toHaveLength(500);
  });
});

describe("a success that is not what the API's document says", () => {
  test("says in short what is wrong, and keeps the id that it names", async () => {
    const { client } = await start((response) => respondJson(response, 200, { data: { sale: { id: "sal_7" } } }));
    const error = await errorOf(client.getSale("sal_1", business));
    expect(error).toBeInstanceOf(UnexpectedAnswerError);
    expect(error).toMatchObject({ status: 200, documentId: "sal_7" });
    const { issues } = error as UnexpectedAnswerError;
    expect(issues.length).toBeLessThanOrEqual(6);
    expect(issues[0]).toContain("data.sale.type");
  });

  test.each([
    [200, "<html>welcome</html>"],
    [200, ""],
    [204, ""],
    [302, ""],
  ])("%i %j is an unexpected answer", async (status, body) => {
    const { client } = await start((response) => response.writeHead(status).end(body));
    expect(await errorOf(client.getSale("sal_1", business))).toMatchObject({ name: "UnexpectedAnswerError", status });
  });
});

test.each([400, 500, 200])(
  "no error (%i) contains the key or the token of a callback URL, though the API may quote them",
  async (status) => {
    const { client } = await start((response, { headers }) => {
      const words = `bad header ${String(headers["x-api-key"])}, bad URL https://shop.example/callbacks/TOKEN`;
      respondJson(response, status, { error: { code: "invalid_request", message: words, errors: [{ words }] }, words });
    });
    const error = await errorOf(client.getSale("sal_1", business));
    const told = `${String(error)} ${JSON.stringify(error)} ${String((error as Error).stack)}`;
    expect(told).not.toContain(TEST_KEY);
    expect(told).not.toContain("TOKEN");
  },
);
