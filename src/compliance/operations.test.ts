import { afterEach, describe, expect, test } from "vitest";
import { type Respond, respondJson } from "../http/test-support/stub-server.ts";
import { classifyError } from "./classify.ts";
import { complianceSettings, parseDialect } from "./dialect.ts";
import { settingsHint, SHOWN_OPERATIONS } from "./operations.ts";
import { sampleItem, sampleSale } from "./test-support/samples.ts";
import { errorOf, startTestClient, type TestClient } from "./test-support/test-client.ts";

let running: TestClient | undefined;
afterEach(async () => {
  await running?.close();
  running = undefined;
});

async function start(...args: Parameters<typeof startTestClient>): Promise<TestClient> {
  running = await startTestClient(...args);
  return running;
}

const sale: Respond = (response) => respondJson(response, 200, { data: { sale: sampleSale() } });
const business = { businessId: "biz_1" };

describe("the other operations", () => {
  test("retrySale has no body, or one that holds nothing but the business", async () => {
    const { client, server } = await start(sale);
    await client.retrySale("sal_1", business);
    expect(server.requests[0]).toMatchObject({ target: "/v1/sales/sal_1/retry?businessId=biz_1", body: "" });
    expect(server.requests[0]?.headers["content-type"]).toBeUndefined();
    await running?.close();
    const other = await start(sale, { dialect: { retry: { businessIdIn: "body" } } });
    await other.client.retrySale("sal_1", business);
    expect(other.server.requests[0]).toMatchObject({ target: "/v1/sales/sal_1/retry", body: '{"businessId":"biz_1"}' });
  });

  test("registerItem sends the branch and force under the dialect's names, else an empty object", async () => {
    const respond: Respond = (response) => respondJson(response, 200, { data: { item: sampleItem() } });
    const { client, server } = await start(respond, {
      dialect: { register: { branch: "bhf", branchBy: "authorityId", force: "again" } },
    });
    const { data } = await client.registerItem({ itemId: "itm_1" }, business);
    await client.registerItem({ itemId: "itm_1", branch: { id: "br_1", authorityBhfId: "00" }, force: true }, business);
    expect(data).toEqual(sampleItem());
    expect(server.requests[0]?.target).toBe("/v1/items/itm_1/register?businessId=biz_1");
    expect(server.requests.map(({ body }) => JSON.parse(body) as unknown)).toEqual([{}, { bhf: "00", again: true }]);
  });

  test("registerItem refuses a force for which the dialect has no name", async () => {
    const { client } = await start(sale, { dialect: { register: { force: null } } });
    const call = client.registerItem({ itemId: "itm_1", force: true }, business);
    expect(await errorOf(call)).toMatchObject({ code: "not-in-dialect" });
  });

  test("listItems gives the items", async () => {
    const items = [sampleItem(), sampleItem({ id: "itm_2", registrationStatus: "PENDING" })];
    const { client } = await start((response) => respondJson(response, 200, { data: { items } }));
    expect((await client.listItems(business)).data).toEqual(items);
  });

  test("listPurchases gives one page and sends the filters under the dialect's names", async () => {
    const purchase = {
      id: "pur_1",
      status: "pulled",
      supplier: { name: "Mill", pin: "P051234567A" },
      supplierInvoiceNumber: "S-1",
      invoiceDate: "2026-11-20",
      branch: "Main",
      totals: { subtotal: 100, vat: 16, total: 116 },
      lines: [
        { description: "Flour", hsCode: null, quantity: 1, unitPrice: 100, taxRate: 16, taxAmount: 16, total: 116 },
      ],
      confirmationError: null,
    };
    const page = { data: { purchases: [purchase] }, pagination: { nextCursor: "a b/c=", pageSize: 20 } };
    const { client, server } = await start((response) => respondJson(response, 200, page), {
      dialect: { purchases: { pageSize: "limit", status: null } },
    });
    const filters = { cursor: "a b/c=", pageSize: 50, status: "pulled", from: "2026-11-01" } as const;
    expect((await client.listPurchases(filters, business)).data).toEqual({
      purchases: [purchase],
      nextCursor: "a b/c=",
      pageSize: 20,
    });
    expect(server.requests[0]?.target).toBe(
      "/v1/purchases?businessId=biz_1&cursor=a%20b%2Fc%3D&limit=50&from=2026-11-01",
    );
  });

  test("listPurchases refuses a cursor for which the dialect has no name, since the first page would come again and again", async () => {
    const { client } = await start(sale, { dialect: { purchases: { cursor: null } } });
    expect(await errorOf(client.listPurchases({ cursor: "c" }, business))).toMatchObject({ code: "not-in-dialect" });
  });

  test.each([
    [200, '{"data":{"pulled":3}}', { data: { pulled: 3 } }],
    [202, "", undefined],
    [204, "", undefined],
  ])("pullPurchases takes any 2xx without a body or with that of a success (%i)", async (status, body, data) => {
    const { client, server } = await start((response) => response.writeHead(status).end(body));
    expect((await client.pullPurchases(business)).data).toEqual(data);
    expect(server.requests[0]).toMatchObject({
      method: "POST",
      target: "/v1/purchases/pull?businessId=biz_1",
      body: "",
    });
  });

  test.each([
    ["a page of something in between", "<html>Back soon</html>"],
    ["an error", '{"error":{"code":"unavailable","message":"Back soon"}}'],
    ["no object", '["Back soon"]'],
    ["no data", '{"message":"Back soon"}'],
  ])("pullPurchases takes a 200 with %s for no answer of the service, and may be repeated", async (_what, body) => {
    const { client } = await start((response) => response.writeHead(200).end(body));
    const error = await errorOf(client.pullPurchases(business));
    expect(error).toMatchObject({ name: "UnexpectedAnswerError", status: 200 });
    expect(classifyError("pullPurchases", error, parseDialect())).toEqual({ kind: "transient" });
  });

  test("listBusinesses names no business and reads what the dialect names", async () => {
    const respond: Respond = (response, { target }) =>
      target === "/v1/businesses"
        ? respondJson(response, 200, {
            data: [
              {
                key: "biz_1",
                places: [
                  { id: "br_1", bhf: "00" },
                  { id: "br_2", bhf: null },
                ],
              },
              { key: "biz_2" },
            ],
          })
        : respondJson(response, 500, {});
    const { client } = await start(respond, {
      dialect: { businesses: { list: null, id: "key", branches: "places", authorityId: "bhf" } },
    });
    expect((await client.listBusinesses()).data).toEqual([
      { id: "biz_1", branches: [{ id: "br_1", authorityBhfId: "00" }, { id: "br_2" }] },
      { id: "biz_2", branches: [] },
    ]);
  });

  test("listBusinesses says what is missing when the names do not fit", async () => {
    const { client } = await start((response) => respondJson(response, 200, { data: { businesses: [{ uid: "b" }] } }));
    expect(await errorOf(client.listBusinesses())).toMatchObject({
      name: "UnexpectedAnswerError",
      issues: ["0.id: missing, or not of its form (dialect, businesses)"],
    });
  });

  test("an operation that the document only names is off until the dialect describes it", async () => {
    const { client, server } = await start((response) => respondJson(response, 200, { data: 1 }), {
      dialect: { createItem: { method: "POST", path: "/v1/items", fields: { name: "title" } } },
    });
    const off = errorOf(client.callNamed("identity", {}, business));
    await expect(off).resolves.toMatchObject({
      code: "not-in-dialect",
      message: expect.stringContaining("COMPLIANCE_DIALECT"),
    });
    await client.callNamed("createItem", { fields: { name: "Flour", sku: "MF" } }, business);
    expect(server.requests).toMatchObject([
      { method: "POST", target: "/v1/items?businessId=biz_1", body: '{"title":"Flour","sku":"MF"}' },
    ]);
  });

  test("a receipt comes piece by piece, as it is, once the dialect says from where and as what", async () => {
    const bytes = Buffer.from([0x25, 0x50, 0x44, 0x46, 0xff, 0x00, 0xfe, 0x0a]);
    const download = { method: "GET", path: "/v1/sales/{id}/receipt" };
    const { client, server } = await start(
      (response) => {
        response.writeHead(200, { "content-type": "application/pdf" });
        response.end(bytes);
      },
      { dialect: { receiptDownload: { ...download, accept: "application/pdf" } } },
    );
    const pieces: Uint8Array[] = [];
    const { data } = await client.downloadReceipt("sal/1", async (piece) => pieces.push(piece), business);
    expect(Buffer.concat(pieces).equals(bytes)).toBe(true);
    expect(data).toEqual({ length: bytes.length, contentType: "application/pdf" });
    expect(server.requests).toMatchObject([
      {
        method: "GET",
        target: "/v1/sales/sal%2F1/receipt?businessId=biz_1",
        headers: { accept: "application/pdf" },
      },
    ]);
    const { client: anyType, server: asked } = await start((response) => respondJson(response, 404, {}), {
      dialect: { receiptDownload: download },
    });
    const none: Uint8Array[] = [];
    const refused = errorOf(anyType.downloadReceipt("sal_1", async (piece) => none.push(piece), business));
    await expect(refused).resolves.toMatchObject({ name: "ComplianceApiError", status: 404 });
    expect(none).toEqual([]);
    expect(asked.requests).toMatchObject([{ headers: { accept: "*/*" } }]);
    const { client: plain } = await start((response) => respondJson(response, 200, {}));
    const off = errorOf(plain.downloadReceipt("sal_1", async () => undefined, business));
    await expect(off).resolves.toMatchObject({ code: "not-in-dialect" });
  });
});

test("the hint of a refusal names the settings of the request and where to set them", () => {
  expect(settingsHint("pullPurchases")).toContain("set pull.path or pull.businessIdIn in COMPLIANCE_DIALECT");
  expect(settingsHint("createCreditNote", ["errors.alreadyCredited"])).toContain(
    "set errors.alreadyCredited or creditNote.businessIdIn in COMPLIANCE_DIALECT",
  );
  expect(settingsHint("getSale")).toBe("");
});

test("every name that a hint mentions is one of the dialect's settings, or a group of them", () => {
  const paths = complianceSettings().map(({ path }) => path);
  const named = SHOWN_OPERATIONS.flatMap((name) => settingsHint(name).match(/[a-zA-Z]+(?:\.[a-zA-Z*]+)+/g) ?? []);
  expect(named.length).toBeGreaterThan(15);
  expect(
    named.filter((name) => !paths.some((path) => path === name || path.startsWith(name.replace("*", "")))),
  ).toEqual([]);
});
