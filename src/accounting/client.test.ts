import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { respondJson } from "../http/test-support/stub-server.ts";
import { parseAccountingDialect } from "./dialect.ts";
import { classifyAccountingError } from "./errors.ts";
import { accountingClientUnderTest, envelope, TEST_KEY, TEST_SECRET } from "./test-support/test-client.ts";

const NOW_MS = Date.parse("2026-11-21T09:00:00Z");
const failureOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => "no failure",
    (error: unknown) => error,
  );

describe("a request", () => {
  test("carries the key, and no signature without a client secret", async () => {
    const { client, server } = await accountingClientUnderTest((response) => respondJson(response, 200, { data: [] }));
    await client.listCompanies();
    const { headers, target } = server.requests[0] ?? { headers: {}, target: "" };
    expect(target).toBe("/accounting/companies");
    expect(headers).toMatchObject({ "x-api-key": TEST_KEY });
    expect(headers).not.toHaveProperty("x-signature");
    expect(headers).not.toHaveProperty("x-timestamp");
  });

  test.each([false, true])("is signed over the bytes that arrive, with the query in the path: %s", async (query) => {
    const { client, server } = await accountingClientUnderTest(
      (response, { method }) => respondJson(response, 200, method === "GET" ? envelope([]) : { message: "done" }),
      { clientSecret: TEST_SECRET, nowMs: () => NOW_MS, dialect: { signature: { query } } },
    );
    await client.listBillPayments({
      page: 3,
      limit: 100,
      status: "synced",
      sortBy: "updatedAt",
      sortDirection: "desc",
    });
    await client.processSyncBatch("batch 1/2");
    for (const { method, target, body, headers } of server.requests) {
      const path = query ? target : target.replace(/\?.*/, "");
      const message = `${method}${path}${body}${String(headers["x-timestamp"])}`;
      expect(headers["x-signature"]).toBe(createHmac("sha256", TEST_SECRET).update(message).digest("hex"));
      expect(headers["x-timestamp"]).toBe(String(NOW_MS));
    }
    expect(server.requests.map(({ method, target, body }) => [method, target, body])).toEqual([
      ["GET", "/accounting/bill-payments?page=3&limit=100&status=synced&sortBy=updatedAt&sortDirection=desc", ""],
      ["POST", "/accounting/sync/batches/batch%201%2F2/process", ""],
    ]);
  });

  test("that cannot be repeated has a connection of its own", async () => {
    const { client, server } = await accountingClientUnderTest((response) =>
      respondJson(response, 200, { message: "done", data: [] }),
    );
    await client.listCompanies();
    await client.processSyncBatch("b1");
    await client.listCompanies();
    const [first, second, third] = server.requests.map(({ connection }) => connection);
    expect(third).toBe(first);
    expect(second).not.toBe(first);
  });

  test("uses the dialect's names, and sends nothing that the dialect does not name", async () => {
    const { client, server } = await accountingClientUnderTest((response) => respondJson(response, 200, envelope([])), {
      dialect: { billPayments: { page: "pageNo", limit: "size", status: "syncStatus", paymentMethod: null } },
    });
    await client.listBillPayments({ page: 2, limit: 5, status: "failed" });
    expect(server.requests[0]?.target).toBe("/accounting/bill-payments?pageNo=2&size=5&syncStatus=failed");
    const refused = await failureOf(client.listBillPayments({ paymentMethod: "cash" }));
    expect(refused).toMatchObject({ name: "CallInputError" });
    expect(server.requests).toHaveLength(1);
  });

  test.each(["", "..", "\ud800"])("to process the batch %j is refused before it is sent", async (id) => {
    const { client, server } = await accountingClientUnderTest((response) => respondJson(response, 200, {}));
    const error = await failureOf(client.processSyncBatch(id));
    expect(classifyAccountingError("processSyncBatch", error)).toMatchObject({ kind: "refused" });
    expect(server.requests).toHaveLength(0);
  });
});

describe("an answer", () => {
  test("keeps what the document does not name, and needs of a payment the id alone", async () => {
    const payments = [{ id: "bp_1", custom: { a: 1 }, totalAmount: null }, { id: "bp_2" }];
    const { client } = await accountingClientUnderTest((response) => respondJson(response, 200, envelope(payments)));
    expect((await client.listBillPayments()).data.billPayments).toEqual(payments);
  });

  test("leaves out the payments that do not fit the schema, and reports them separately", async () => {
    const payments = [{ billPaymentCode: "P1" }, { id: "bp_1", totalAmount: "12" }, { id: "bp_2" }];
    const { client } = await accountingClientUnderTest((response) => respondJson(response, 200, envelope(payments)));
    expect(await client.listBillPayments()).toMatchObject({
      data: { billPayments: [{ id: "bp_2" }] },
      odd: [
        { names: {}, field: "id" },
        { names: { id: "bp_1" }, field: "totalAmount" },
      ],
    });
  });

  test.each([
    ["no envelope", [{ id: "bp_1" }]],
    ["an envelope without its flags", { ...envelope([]), hasNextPage: undefined }],
  ])("with %s is an unexpected answer", async (_what, body) => {
    const { client } = await accountingClientUnderTest((response) => respondJson(response, 200, body));
    const error = await failureOf(client.listBillPayments());
    expect(error).toMatchObject({ name: "UnexpectedAnswerError", status: 200 });
    expect(classifyAccountingError("listBillPayments", error)).toEqual({ kind: "transient" });
  });
});

describe("a refusal", () => {
  test.each([
    [401, "configuration", "configuration"],
    [403, "configuration", "configuration"],
    [404, "refused", "refused"],
    [400, "refused", "refused"],
    [422, "refused", "refused"],
    [408, "transient", "unknown"],
    [429, "deferred", "deferred"],
    [500, "transient", "unknown"],
    [503, "transient", "unknown"],
  ])("with %i is typed and has its meaning for a read and a write", async (status, read, write) => {
    const { client } = await accountingClientUnderTest((response) =>
      respondJson(response, status, { message: "no, sk_production_abc was refused" }, { "retry-after": "7" }),
    );
    const error = await failureOf(client.processSyncBatch("b1"));
    expect(error).toMatchObject({
      name: "AccountingApiError",
      status,
      message: expect.stringContaining("no, sk_production_… was refused"),
    });
    expect(classifyAccountingError("listBillPayments", error).kind).toBe(read);
    expect(classifyAccountingError("processSyncBatch", error).kind).toBe(write);
  });

  test("by 429 says how long to wait", async () => {
    const { client } = await accountingClientUnderTest((response) =>
      respondJson(response, 429, "", { "retry-after": "7" }),
    );
    const error = await failureOf(client.listCompanies());
    expect(classifyAccountingError("listCompanies", error)).toEqual({ kind: "deferred", retryAfterMs: 7_000 });
  });

  test("of a processed batch that says nothing readable leaves the outcome unknown", async () => {
    const { client } = await accountingClientUnderTest((response) => response.writeHead(200).end("<html>"));
    const error = await failureOf(client.processSyncBatch("b1"));
    expect(classifyAccountingError("processSyncBatch", error)).toEqual({ kind: "unknown" });
  });

  test("of the companies that is a page of something in between says nothing of the service", async () => {
    const { client } = await accountingClientUnderTest((response) => response.writeHead(200).end("<html>"));
    const error = await failureOf(client.listCompanies());
    expect(error).toMatchObject({ name: "UnexpectedAnswerError", status: 200 });
    expect(classifyAccountingError("listCompanies", error)).toEqual({ kind: "transient" });
  });

  test("of a refused connection was certainly not sent", async () => {
    const { client, server } = await accountingClientUnderTest(() => undefined);
    await server.close();
    const error = await failureOf(client.processSyncBatch("b1"));
    expect(classifyAccountingError("processSyncBatch", error)).toEqual({ kind: "not-applied" });
    expect(classifyAccountingError("listCompanies", error)).toEqual({ kind: "transient" });
  });

  const date = (atMs: number): Record<string, string> => ({ date: new Date(atMs).toUTCString() });
  test.each([
    [
      "ahead by more than it may be",
      NOW_MS - 6 * 60_000,
      "360 s ahead of the accounting service's, and a signature is refused",
    ],
    [
      "behind by more than it may be",
      NOW_MS + 11 * 60_000,
      "660 s behind the accounting service's, and a signature is refused",
    ],
    ["off within the tolerance", NOW_MS - 60_000, "60 s ahead of the accounting service's, which is within"],
    ["right", NOW_MS, "another application's)"],
  ])("by 401 of a signed call hints at a clock that is %s", async (_how, serverMs, hint) => {
    const { client } = await accountingClientUnderTest((response) => respondJson(response, 401, {}, date(serverMs)), {
      clientSecret: TEST_SECRET,
      nowMs: () => NOW_MS,
    });
    const error = await failureOf(client.listCompanies());
    expect(error).toMatchObject({ clockAheadMs: NOW_MS - serverMs, message: expect.stringContaining(hint) });
    expect(String(error)).not.toContain(TEST_SECRET);
  });

  test("by 401 of a call that is not signed says nothing of clocks", async () => {
    const { client } = await accountingClientUnderTest((response) => respondJson(response, 401, {}, date(0)));
    const error = await failureOf(client.listCompanies());
    expect(error).toMatchObject({ clockAheadMs: undefined, message: expect.not.stringContaining("clock") });
  });
});

describe("a dialect", () => {
  test.each([
    [{ billPayments: { page: "p", limit: "p" } }, "dialect.billPayments.limit: the same name as page"],
    [{ billPayment: {} }, "dialect.billPayment: the dialect has no such name"],
    [{ webhook: { signed: "timestamp+body" } }, "dialect.webhook.timestampHeader: must be named"],
    [
      { webhook: { timestampHeader: "X-Timestamp" } },
      "dialect.webhook.signed: must be timestamp+body or timestamp.body",
    ],
    [{ webhook: { signatureHeader: "X Signature" } }, "dialect.webhook.signatureHeader: must be the name of a header"],
  ])("is refused: %o", (overrides, problem) => {
    expect(() => parseAccountingDialect(overrides)).toThrowError(problem);
  });
});
