import { afterEach, describe, expect, test } from "vitest";
import { TransportError } from "../http/errors.ts";
import { type Respond, respondJson } from "../http/test-support/stub-server.ts";
import type { Classification } from "./classify.ts";
import { classifyError, classifyItem, classifyMovement } from "./classify.ts";
import { composeCreateSale } from "./compose.ts";
import { parseDialect } from "./dialect.ts";
import { sampleItem, sampleSale } from "./test-support/samples.ts";
import { errorOf, startTestClient, type TestClient } from "./test-support/test-client.ts";

let running: TestClient | undefined;
afterEach(async () => {
  await running?.close();
  running = undefined;
});

async function start(respond: Respond): Promise<TestClient["client"]> {
  running = await startTestClient(respond);
  return running.client;
}

const dialect = parseDialect();
const business = { businessId: "biz_1" };
const movement = { itemId: "itm_1", action: "ADD", quantity: 1, unitPrice: 1, referenceId: "r" } as const;
const keyed = { idempotencyKey: "sale:INV-1001" };
const composed = composeCreateSale(dialect, "organisation", {
  ...business,
  traderInvoiceNumber: "INV-1001",
  lines: [],
});
const error = { code: "authority_rejected", message: "No." };

describe("what an error means, over the wire", () => {
  const cases: [string, Respond, Classification][] = [
    [
      "422 with the sale",
      (response) => respondJson(response, 422, { error: { ...error, sale: sampleSale({ status: "failed" }) } }),
      { kind: "rejected", documentId: "sal_1" },
    ],
    [
      "422 without a trace",
      (response) => respondJson(response, 422, { error }),
      { kind: "rejected-without-trace", repeatable: true },
    ],
    [
      "429 that tells only the window's reset",
      (response) =>
        respondJson(
          response,
          429,
          { error },
          { "x-ratelimit-limit": "120", "x-ratelimit-remaining": "0", "x-ratelimit-reset": "9" },
        ),
      { kind: "deferred", retryAfterMs: 9_000 },
    ],
    [
      "429 whose body broke off",
      (response) => {
        response.writeHead(429, { "retry-after": "3", "content-length": "9" }).write("{", () => response.destroy());
      },
      { kind: "deferred", retryAfterMs: 3_000 },
    ],
    ["a connection that breaks", (response) => response.destroy(), { kind: "unknown-keyed", documentId: undefined }],
    [
      "a 201 of which only the id can be read",
      (response) => respondJson(response, 201, { data: { sale: { id: "sal_1" } } }),
      { kind: "unknown-keyed", documentId: "sal_1" },
    ],
  ];
  test.each(cases)("%s", async (_says, respond, means) => {
    const client = await start(respond);
    expect(classifyError("createSale", await errorOf(client.createSale(composed, keyed)), dialect)).toEqual(means);
  });

  test("a stock movement whose answer is lost is unknown, and one that was never sent is not applied", async () => {
    const client = await start((response) => response.destroy());
    const lost = await errorOf(client.adjustStock(movement, business));
    expect(classifyError("adjustStock", lost, dialect)).toEqual({ kind: "unknown" });
    await running?.close();
    running = undefined;
    const refused = await errorOf(client.adjustStock(movement, business));
    expect(classifyError("adjustStock", refused, dialect)).toEqual({ kind: "not-applied" });
  });

  test("a call that the client refuses is refused, and a request that the budget kept back is deferred", async () => {
    const client = await start(() => {});
    const local = await errorOf(client.adjustStock(movement));
    expect(classifyError("adjustStock", local, dialect)).toEqual({ kind: "refused", attention: "invalid-request" });
    const held = new TransportError("the window is spent", { code: "held-back", sent: "no", retryAfterMs: 1_500 });
    expect(classifyError("adjustStock", held, dialect)).toEqual({ kind: "deferred", retryAfterMs: 1_500 });
  });

  test("an error of any other origin counts as a lost answer", () => {
    const bug = new TypeError("x is not a function");
    expect(classifyError("adjustStock", bug, dialect)).toEqual({ kind: "unknown" });
    expect(classifyError("createSale", bug, dialect)).toMatchObject({ kind: "unknown-keyed" });
    expect(classifyError("getSale", bug, dialect)).toEqual({ kind: "transient" });
  });

  test("422 on a registration that was forced is not taken for done", async () => {
    const client = await start((response) => respondJson(response, 422, { error: { ...error, item: sampleItem() } }));
    const rejected = await errorOf(client.registerItem({ itemId: "itm_1", force: true }, business));
    expect(classifyError("registerItem", rejected, dialect)).toMatchObject({ kind: "ok" });
    expect(classifyError("registerItem", rejected, dialect, { forceAsked: true })).toMatchObject({ kind: "refused" });
  });
});

describe("what a result means", () => {
  const meta = { status: 200, replayed: false, requestSentAtMs: 0, answeredAtMs: 1 };

  test("an item and a movement are classified by their own fields", () => {
    const item = {
      data: sampleItem({ registrationStatus: "PENDING" }),
      meta: { ...meta, operation: "registerItem" as const },
    };
    expect(classifyItem(item, dialect)).toEqual({ kind: "converging" });
    const made = { itemId: "itm_1", branchId: "br_1", movementId: "mov_1" };
    const answered = { data: made, meta: { ...meta, operation: "adjustStock" as const, status: 201 } };
    expect(classifyMovement(answered, dialect)).toMatchObject({ kind: "ok" });
    const unreported = { ...answered, data: { ...made, report: { stockIo: "ok", stockMaster: "queued" } } };
    expect(classifyMovement(unreported, dialect)).toEqual({ kind: "unreported" });
  });
});
