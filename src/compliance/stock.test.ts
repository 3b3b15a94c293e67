import { afterEach, expect, test } from "vitest";
import { respondJson } from "../http/test-support/stub-server.ts";
import { errorOf, startTestClient, type TestClient } from "./test-support/test-client.ts";

let running: TestClient | undefined;
afterEach(async () => {
  await running?.close();
  running = undefined;
});

const business = { businessId: "biz_1" };
const movement = {
  itemId: "itm_1",
  action: "DEDUCT",
  quantity: 2,
  unitPrice: 116,
  referenceId: "INV-1001:out:1",
} as const;
const branch = { id: "br_1", authorityBhfId: "00" };

async function answered(body: unknown, dialect: unknown = {}, status = 201): Promise<TestClient> {
  running = await startTestClient((response) => respondJson(response, status, body), { dialect });
  return running;
}

test("a movement is sent on a connection of its own, with the document's fields and the dialect's branch", async () => {
  const { client, server } = await answered({ data: { movementId: "mov_1" } });
  await client.adjustStock({ ...movement, branch }, business);
  await client.adjustStock(movement, business);
  expect(server.requests.map(({ connection }) => connection)).toEqual([1, 2]);
  expect(server.requests[0]?.target).toBe("/v1/stock/adjustments?businessId=biz_1");
  expect(server.requests.map(({ body }) => JSON.parse(body) as unknown)).toEqual([
    { ...movement, branchId: "br_1" },
    movement,
  ]);
  expect(server.requests[0]?.headers["idempotency-key"]).toBeUndefined();
});

test("the report is read from the field that the dialect names", async () => {
  const data = { itemId: "itm_1", branchId: "br_1", movementId: "mov_1", quantityOnHand: 8 };
  const report = { stockIo: { status: "ok" }, stockMaster: { status: "late" } };
  const { client } = await answered({ data: { ...data, tax: report } }, { stock: { report: "tax" } });
  expect((await client.adjustStock(movement, business)).data).toEqual({
    ...data,
    report: { stockIo: "ok", stockMaster: "late" },
  });
});

test.each([
  [{ movementId: "mov_1" }, { itemId: "itm_1", branchId: "br_1", movementId: "mov_1" }],
  [
    { movementId: 7, itemId: 1, branchId: null, quantityOnHand: "8", fiscal: "x" },
    { itemId: "itm_1", branchId: "br_1", movementId: "7", report: {} },
  ],
  [
    { movementId: "mov_1", fiscal: null },
    { itemId: "itm_1", branchId: "br_1", movementId: "mov_1" },
  ],
])("a 201 that names a movement is applied, whatever else it holds (%j)", async (data, expected) => {
  const { client } = await answered({ data });
  expect((await client.adjustStock({ ...movement, branch }, business)).data).toEqual(expected);
});

test.each([
  [201, { data: {} }],
  [201, { data: { movementId: "" } }],
  [200, { data: { movementId: "mov_1" } }],
  [202, { data: { movementId: "mov_1" } }],
])("the answer %i %j to a movement is unexpected", async (status, body) => {
  const { client } = await answered(body, {}, status);
  expect(await errorOf(client.adjustStock(movement, business))).toMatchObject({
    name: "UnexpectedAnswerError",
    status,
  });
});
