import { createHmac } from "node:crypto";

import { afterEach, describe, expect, test } from "vitest";
import type { AddressInfo } from "node:net";
import { createCallbackReceiver, type ReceiverOptions } from "./receiver.ts";
import { PLAIN_WEBHOOK } from "./test-support/plain-webhook.ts";
import type { WebhookShape } from "./webhooks.ts";

const CURRENT = "whsec_development_current";
const OLDER = "whsec_development_older";
const NOW_MS = 1_700_000_000_000;
const MINUTE_MS = 60_000;
const BODY = '{"id":"evt_1","type":"bill_payment.updated","note":"chai ☕"}';

const STAMPED: WebhookShape = { ...PLAIN_WEBHOOK, timestampHeader: "X-Timestamp", signed: "timestamp+body" };

/** Each made with: printf '%s' TEXT | openssl dgst -sha256 -hmac SECRET -hex */
const OF_BODY = "559974171b25bb47294e564edcd64a4df8bd1b8cb6cbfd3159efbaa72113d8be";
const OF_BODY_UNDER_OLDER = "44548b970195c3649b4931acb8a7c567521be5918c6414f9bac618a687427b56";
const OF_MS_AND_BODY = "a2fd8f960b42e186dcc6e449e663802acc7d664447450f754ce78e16de4524a9";
/** Of `1700000000.` and the body, its bytes in base64. */
const OF_SECONDS_AND_BODY = "r0idWR9NzRlfs13Uxt/43WeJZuTVPxVO+3ePrev+7S4=";

const open: { close: () => unknown }[] = [];
afterEach(async () => {
  for (const app of open.splice(0)) await app.close();
});

async function receiving(shape: Partial<WebhookShape> = {}, options: Partial<ReceiverOptions> = {}) {
  const asked: string[] = [];
  const lines: string[] = [];
  const log = (fields: object, message: string) => void lines.push(`${JSON.stringify(fields)} ${message}`);
  const temporal = { answer: "delivered" as "delivered" | "unreachable" };
  const app = createCallbackReceiver({
    secrets: ["a secret of the callbacks, which is another"],
    webhooks: new Map([["default", { secrets: [CURRENT, OLDER], shape: { ...PLAIN_WEBHOOK, ...shape } }]]),
    client: {
      requestSync: (connection) => {
        asked.push(connection);
        return Promise.resolve(temporal.answer);
      },
      signalCallback: () => Promise.resolve("gone"),
      workersBehindMs: () => Promise.resolve(0),
      isReachable: () => Promise.resolve(true),
    },
    log: { debug: log, warn: log },
    clock: () => NOW_MS,
    ...options,
  });
  open.push(app);
  await app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const send = async (
    headers: Record<string, string>,
    { body = BODY, path = "default", method = "POST" }: { body?: string | Buffer; path?: string; method?: string } = {},
  ): Promise<number> => {
    const url = `http://127.0.0.1:${port}/webhooks/accounting/${path}`;
    const answer = await fetch(url, { method, headers, ...(["GET", "HEAD"].includes(method) ? {} : { body }) });
    return answer.status;
  };
  return { send, asked, lines, temporal };
}

describe("a webhook of the accounting service", () => {
  test.each([
    ["under the secret in use", OF_BODY],
    ["under an older one", OF_BODY_UNDER_OLDER],
  ])("that is signed %s starts a synchronisation", async (_how, signature) => {
    const { send, asked } = await receiving();
    expect(await send({ "x-signature": signature, "content-type": "application/octet-stream" })).toBe(202);
    expect(asked).toEqual(["default"]);
  });

  const flipped = Buffer.from(BODY);
  flipped.writeUInt8(flipped.readUInt8(20) ^ 1, 20);
  test.each([
    ["with one byte of its body flipped", { "x-signature": OF_BODY }, flipped],
    [
      "with one digit of its signature changed",
      { "x-signature": `${OF_BODY.slice(0, -1)}${OF_BODY.endsWith("0") ? "1" : "0"}` },
      BODY,
    ],
    ["with a signature that is cut short", { "x-signature": OF_BODY.slice(0, 62) }, BODY],
    ["with white space behind its body", { "x-signature": OF_BODY }, `${BODY}\n`],
    ["without a signature", {}, BODY],
    ["that is signed under the callbacks' secret, or any other", { "x-signature": OF_MS_AND_BODY }, BODY],
  ])("%s is refused, and starts no synchronisation", async (_how, headers, body) => {
    const { send, asked, lines } = await receiving();
    expect(await send(headers, { body })).toBe(401);
    expect(asked).toEqual([]);
    expect(lines.join()).not.toContain(CURRENT);
  });

  const stamped = (offsetMs: number) => ({
    "x-signature": OF_MS_AND_BODY,
    "x-timestamp": String(NOW_MS + offsetMs),
  });
  test.each([
    ["made now", 0, NOW_MS, 202],
    ["five minutes old", 0, NOW_MS + 5 * MINUTE_MS, 202],
    ["older", 0, NOW_MS + 5 * MINUTE_MS + 1, 401],
    ["five minutes early", 0, NOW_MS - 5 * MINUTE_MS, 202],
    ["from further in the future", 0, NOW_MS - 5 * MINUTE_MS - 1, 401],
    ["under another timestamp than was signed", 1, NOW_MS, 401],
  ])("%s is answered accordingly, where the dialect names a timestamp", async (_when, offsetMs, nowMs, status) => {
    const { send } = await receiving(STAMPED, { clock: () => nowMs });
    expect(await send(stamped(offsetMs))).toBe(status);
  });

  test("without the timestamp that the dialect names is refused", async () => {
    const { send } = await receiving(STAMPED);
    expect(await send({ "x-signature": OF_MS_AND_BODY })).toBe(401);
  });

  test("is read under other names and forms of the dialect", async () => {
    const { send } = await receiving({
      signatureHeader: "X-Hook-Signature",
      signaturePrefix: "v1=",
      timestampHeader: "X-Hook-Time",
      timestampUnit: "s",
      signed: "timestamp.body",
      encoding: "base64",
    });
    expect(await send({ "x-hook-signature": `v1=${OF_SECONDS_AND_BODY}`, "x-hook-time": "1700000000" })).toBe(202);
    expect(await send({ "x-hook-signature": OF_SECONDS_AND_BODY, "x-hook-time": "1700000000" })).toBe(401);
  });

  test.each([
    ["a field of the body", "id", {}],
    ["a header", { header: "X-Event" }, { "x-event": "evt_1" }],
  ])("whose id was seen, in %s, is dropped", async (_where, eventId, more) => {
    const { send, asked } = await receiving({ eventId });
    const headers = { "x-signature": OF_BODY, ...more };
    expect([await send(headers), await send(headers)]).toEqual([202, 202]);
    expect(asked).toHaveLength(1);
  });

  test("whose ids are numbers that JSON's numbers cannot tell apart are two", async () => {
    const { send, asked } = await receiving({ eventId: "id" });
    const sendWithId = (id: string) => {
      const body = `{"id":${id}}`;
      return send({ "x-signature": createHmac("sha256", CURRENT).update(body).digest("hex") }, { body });
    };
    for (const id of ["9007199254740992", "9007199254740993", "9007199254740993", '"9007199254740992"'])
      expect(await sendWithId(id)).toBe(202);
    await expect.poll(() => asked, { timeout: 5_000 }).toHaveLength(2);
  });

  test("that Temporal did not take counts as not seen", async () => {
    const { send, asked, temporal } = await receiving({ eventId: "id" });
    temporal.answer = "unreachable";
    expect(await send({ "x-signature": OF_BODY })).toBe(503);
    temporal.answer = "delivered";
    await expect.poll(() => send({ "x-signature": OF_BODY }), { timeout: 5_000 }).toBe(202);
    expect(asked).toHaveLength(2);
  });

  test.each(["default/", "default//", "/default", "//default///", "default/?attempt=2"])(
    "whose address a proxy gave more slashes (%s) is accepted",
    async (path) => {
      const { send, asked } = await receiving();
      expect(await send({ "x-signature": OF_BODY }, { path })).toBe(202);
      expect(asked).toEqual(["default"]);
    },
  );

  test.each([
    ["GET", 200],
    ["HEAD", 200],
    ["OPTIONS", 204],
  ])("whose address is probed by %s answers %i, without a signature and without a log line", async (method, status) => {
    const { send, asked, lines } = await receiving();
    expect(await send({}, { method })).toBe(status);
    expect(await send({}, { method, path: "/default/" })).toBe(status);
    expect(await send({}, { method, path: "other" })).toBe(404);
    expect([asked, lines]).toEqual([[], []]);
  });

  test("of a connection without webhooks is answered 404, and so are other methods", async () => {
    const { send } = await receiving();
    expect(await send({ "x-signature": OF_BODY }, { path: "other" })).toBe(404);
    expect(await send({}, { method: "DELETE" })).toBe(404);
    const none = await receiving({}, { webhooks: new Map() });
    expect(await none.send({ "x-signature": OF_BODY })).toBe(404);
  });

  test("that follows at once is told of a moment later, with others, and one that is too long is refused", async () => {
    const { send, asked } = await receiving({}, { bodyLimitBytes: 1_000 });
    const headers = { "x-signature": OF_BODY };
    expect([await send(headers), await send(headers), await send(headers)]).toEqual([202, 202, 202]);
    await expect.poll(() => asked, { timeout: 5_000 }).toHaveLength(2);
    expect(await send(headers, { body: "x".repeat(1_001) })).toBe(413);
  });
});
