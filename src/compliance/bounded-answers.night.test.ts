import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";

import { afterEach, describe, expect, test } from "vitest";

import type { ServerResponse } from "node:http";
import { classifyAnswer, classifyError, classifyMovement } from "./classify.ts";
import { composeCreateSale } from "./compose.ts";
import { parseDialect } from "./dialect.ts";
import { sampleItem, sampleSale } from "./test-support/samples.ts";
import { errorOf, startTestClient, type TestClient } from "./test-support/test-client.ts";

const MIB = 1024 * 1024;

let running: TestClient | undefined;
afterEach(stop);

async function stop(): Promise<void> {
  await running?.close();
  running = undefined;
}

/** A client of a service that gives every call this body. */
async function answering(status: number, body: string | Buffer, headers: Record<string, string> = {}) {
  running = await startTestClient((response: ServerResponse) => response.writeHead(status, headers).end(body), {
    // Nothing here is about time, and a busy machine takes long for 64 MiB.
    timeoutMs: 80_000,
  });
  return running.client;
}

const business = { businessId: "biz_1" };
const dialect = parseDialect();
const movement = { itemId: "itm_1", action: "DEDUCT", quantity: 1, referenceId: "INV-1:1" } as const;
const composedSale = composeCreateSale(dialect, "organisation", {
  ...business,
  traderInvoiceNumber: "INV-1001",
  lines: [{ itemId: "itm_1", quantity: 2, unitPrice: 116 }],
});
const keyed = { idempotencyKey: "sale:INV-1001" };

type Client = TestClient["client"];
/** Every risk class, with what an answer that cannot be read means for it. */
const CALLS = [
  ["getSale", "transient", 200, (client: Client) => client.getSale("sal_1", business)],
  ["listItems", "transient", 200, (client: Client) => client.listItems(business)],
  ["createSale", "unknown-keyed", 201, (client: Client) => client.createSale(composedSale, keyed)],
  ["registerItem", "converging", 200, (client: Client) => client.registerItem({ itemId: "itm_1" }, business)],
  ["adjustStock", "unknown", 201, (client: Client) => client.adjustStock(movement, business)],
] as const;

const items = (...more: unknown[]) => JSON.stringify({ data: { items: [sampleItem(), ...more] } });
const saleWith = (more: object) => JSON.stringify({ data: { sale: sampleSale(more) } });

describe("an answer that is too large", () => {
  test.each(CALLS.filter(([name]) => name !== "listItems"))(
    "to %s is not read beyond 4 MiB, says so, and is %s",
    async (name, kind, status, call) => {
      const client = await answering(status, saleWith({ note: "x".repeat(4 * MIB) }));
      const error = await errorOf(call(client));
      expect(error).toMatchObject({ code: "body-too-large", answered: { status } });
      expect(String(error)).toContain("the answer is longer than 4 MiB");
      expect(classifyError(name, error, dialect)).toMatchObject({ kind });
    },
  );

  test("is as much one where it refuses the call", async () => {
    const client = await answering(503, "x".repeat(5 * MIB));
    expect(String(await errorOf(client.listItems(business)))).toContain("longer than 4 MiB");
  });

  test("is a list only beyond 64 MiB", async () => {
    const client = await answering(200, items({ ...sampleItem({ id: "itm_2" }), note: "x".repeat(3 * MIB) }));
    expect((await client.listItems(business)).data.map(({ id }) => id)).toEqual(["itm_1", "itm_2"]);
    await stop();

    const long = await answering(200, `{"data":{"items":[${`${JSON.stringify(sampleItem())},`.repeat(200_000)}{}]}}`);
    const error = await errorOf(long.listItems(business));
    expect(error).toMatchObject({ code: "body-too-large" });
    expect(String(error)).toContain("longer than 64 MiB");
  });

  test("is a list too in which one row is longer than 4 MiB", async () => {
    const client = await answering(200, items({ ...sampleItem({ id: "itm_2" }), note: "x".repeat(5 * MIB) }));
    const error = await errorOf(client.listItems(business));
    expect(String(error)).toContain("a row is longer than 4 MiB");
    expect(classifyError("listItems", error, dialect)).toEqual({ kind: "transient" });
  });
});

describe("an answer that is nested deeply", () => {
  const deep = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;

  test.each(CALLS)("to %s says so beyond 100 levels, and is %s", async (name, kind, status, call) => {
    const client = await answering(status, `{"data":${deep(200_000)}}`);
    const error = await errorOf(call(client));
    expect(String(error)).toContain("nested deeper than 100 levels");
    expect(classifyError(name, error, dialect)).toMatchObject({ kind });
  });

  test("as an error is one without the API's envelope", async () => {
    const client = await answering(422, `{"error":{"code":"authority_rejected","errors":${deep(200_000)}}}`);
    expect(await errorOf(client.createSale(composedSale, keyed))).toMatchObject({ status: 422, envelope: false });
  });

  test("is read up to 100 levels, in a row of a list too", async () => {
    const client = await answering(
      200,
      items({ ...sampleItem({ id: "itm_2" }), note: JSON.parse(deep(96)) as unknown }),
    );
    expect((await client.listItems(business)).data).toHaveLength(2);
    await stop();
    const deeper = `{"data":{"items":[{"id":"itm_3","note":${deep(97)}}]}}`;
    const refusing = await answering(200, deeper);
    expect(String(await errorOf(refusing.listItems(business)))).toContain("nested deeper than 100 levels");
  });
});

describe("a compressed answer", () => {
  test.each([
    ["gzip", gzipSync],
    ["x-gzip", gzipSync],
    ["GZIP ", gzipSync],
    ["deflate", deflateSync],
    ["br", brotliCompressSync],
    ["identity", (text: string) => Buffer.from(text)],
  ] as const)("is decoded (%s)", async (encoding, compress) => {
    const coded = (body: unknown, status: number) =>
      answering(status, compress(JSON.stringify(body)), { "content-encoding": encoding });
    const moved = await coded({ data: { movementId: "mov_1" } }, 201);
    const result = await moved.adjustStock(movement, business);
    expect(classifyMovement(result, dialect)).toEqual({ kind: "ok" });
    await stop();
    const listing = await coded({ data: { items: [sampleItem()] } }, 200);
    const list = await listing.listItems(business);
    expect([list.data, classifyAnswer(list, dialect)]).toEqual([[sampleItem()], { kind: "ok" }]);
    await stop();
    const refusing = await coded({ error: { code: "authority_rejected", message: "no" } }, 422);
    expect(await errorOf(refusing.getSale("sal_1", business))).toMatchObject({ apiCode: "authority_rejected" });
  });

  test("is not asked for", async () => {
    const client = await answering(200, items());
    await client.listItems(business);
    expect(running?.server.requests[0]?.headers["accept-encoding"]).toBe("identity");
  });

  test("without a body is an answer without a body", async () => {
    const client = await answering(502, "", { "content-encoding": "gzip" });
    expect(await errorOf(client.getSale("sal_1", business))).toMatchObject({ status: 502 });
  });

  test.each([
    ["zstd", "zstd", "encoded as zstd, which is not known here"],
    ["two encodings", "gzip, br", "encoded more than once (gzip, br)"],
    ["what is no encoding", "\u00e9\u00ff{secret}", "encoded in a way that is not known here"],
  ])("is unreadable by its risk class and named: %s", async (_what, encoding, says) => {
    for (const [name, kind, status, call] of CALLS) {
      const client = await answering(status, gzipSync(items()), { "content-encoding": encoding });
      const error = await errorOf(call(client));
      expect(error).toMatchObject({ code: "body-unreadable", sent: "maybe" });
      expect(String(error)).toContain(says);
      expect(String(error)).not.toContain("secret");
      expect(classifyError(name, error, dialect)).toMatchObject({ kind });
      await stop();
    }
  });

  test.each([
    ["is cut off", gzipSync(items()).subarray(0, 40)],
    ["is none", Buffer.from(items())],
  ])("is unreadable where it %s", async (_how, body) => {
    const client = await answering(200, body, { "content-encoding": "gzip" });
    const error = await errorOf(client.listItems(business));
    expect(error).toMatchObject({ code: "body-unreadable" });
    expect(String(error)).toContain("the answer could not be decoded (Z_");
  });

  test.each([
    ["getSale", "4 MiB"],
    ["listItems", "64 MiB"],
  ] as const)("that blows up is not decoded beyond the bound of %s", async (name, bound) => {
    const bomb = gzipSync(Buffer.alloc(512 * MIB, "["));
    const client = await answering(200, bomb, { "content-encoding": "gzip" });
    const before = process.memoryUsage.rss();
    const error = await errorOf(name === "getSale" ? client.getSale("sal_1", business) : client.listItems(business));
    expect(error).toMatchObject({ code: "body-too-large" });
    expect(String(error)).toContain(`longer than ${bound}`);
    expect(process.memoryUsage.rss() - before).toBeLessThan(100 * MIB);
  });
});

describe("an id that is a number", () => {
  const big = "9007199254740993";

  test("is kept as it was written", async () => {
    const moving = await answering(201, `{"data":{"movementId":${big},"quantityOnHand":12.50}}`);
    expect((await moving.adjustStock(movement, business)).data).toMatchObject({
      movementId: big,
      quantityOnHand: 12.5,
    });
    await stop();
    const listing = await answering(200, items().replace('"itm_1"', `${big}`));
    expect((await listing.listItems(business)).data).toMatchObject([{ id: big, stockTracked: true }]);
  });
});
