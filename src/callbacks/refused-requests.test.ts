import { expect, test } from "vitest";

import { Surroundings, listen, PATH, send, sendRaw, TOKEN } from "./test-support/listening-receiver.ts";
import { PLAIN_WEBHOOK } from "./test-support/plain-webhook.ts";

const STAMPED = { ...PLAIN_WEBHOOK, timestampHeader: "X-Timestamp", signed: "timestamp+body" as const };
const WEBHOOKS = new Map([
  ["default", { secrets: ["whsec_development_a"], shape: PLAIN_WEBHOOK }],
  ["stamped", { secrets: ["whsec_development_b"], shape: STAMPED }],
]);

test("2,497 forged webhooks write one line, which says how many and why", async () => {
  const around = new Surroundings();
  const { port, app } = await listen(around.options({ webhooks: WEBHOOKS }));
  const forged = { "x-signature": "0".repeat(64) };
  for (let sent = 0; sent < 2_497; sent += 100) {
    const batch = Array.from({ length: Math.min(100, 2_497 - sent) }, () =>
      app.inject({ method: "POST", url: "/webhooks/accounting/default", headers: forged, payload: "{}" }),
    );
    for (const { statusCode } of await Promise.all(batch)) expect(statusCode).toBe(401);
  }
  const stamped = (timestamp: string) => ({ ...forged, "x-timestamp": timestamp });
  const path = "/webhooks/accounting/stamped";
  expect((await send(port, "POST", path, "{}", stamped("1700000000000"))).status).toBe(401);
  expect((await send(port, "POST", path, "{}", stamped("9999999999999"))).status).toBe(401);
  expect((await send(port, "POST", path, "{}", forged)).status).toBe(401);
  expect((await send(port, "POST", path, "{}", { "x-timestamp": String(Date.now()) })).status).toBe(401);
  expect(around.lines).toEqual([]);
  await app.close();
  expect(around.lines).toHaveLength(1);
  expect(JSON.parse(around.lines[0]?.replace(/ [^}]*$/, "") ?? "")).toEqual({
    refused: {
      "webhook default": { "wrong-signature": 2_497 },
      "webhook stamped": { "old-timestamp": 1, "future-timestamp": 1, "no-timestamp": 1, "no-signature": 1 },
    },
  });
  expect(around.signals).toEqual([]);
});

test("whatever a stranger sends writes no line of its own", async () => {
  const around = new Surroundings();
  const timeouts = { headersMs: 50, requestMs: 100, checkEveryMs: 20 };
  const { port, app } = await listen(around.options({ webhooks: WEBHOOKS, timeouts, bodyLimitBytes: 1_000 }));
  const oversized = "Content-Length: 99999999999\r\n\r\n";
  const webhook = "POST /webhooks/accounting/default HTTP/1.1\r\nHost: a\r\n";
  const strange: [string, string, string][] = [
    ["404", "callback", "POST /callbacks/c1.forged.token HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"],
    ["404", "callback", `POST ${PATH.slice(0, -1)}. HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`],
    ["405", "callback", `OPTIONS ${PATH} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`],
    ["413", "callback", `POST ${PATH} HTTP/1.1\r\nHost: a\r\n${oversized}`],
    ["413", "webhook", `${webhook}${oversized}`],
    ["404", "webhook", "POST /webhooks/accounting/other HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"],
    ["404", "other", "GET /admin HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"],
    ["404", "other", "GET /callbacks/%zz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"],
    ["400", "malformed", "hello\r\n\r\n"],
    ["431", "head too large", `GET / HTTP/1.1\r\nHost: a\r\nX: ${"x".repeat(20_000)}\r\n\r\n`],
    ["408", "slow head", "GET / HTTP/1.1\r\nHost: a\r\n"],
    ["408", "slow body", `${webhook}Content-Length: 10\r\n\r\n{`],
  ];
  for (const [status, what, bytes] of strange) {
    expect([what, await sendRaw(port, bytes)]).toEqual([
      what,
      expect.stringMatching(new RegExp(`^HTTP/1\\.1 ${status} `)),
    ]);
  }
  expect(around.lines).toEqual([]);
  await app.close();
  expect(around.lines).toHaveLength(1);
  expect(JSON.parse(around.lines[0]?.replace(/ [^}]*$/, "") ?? "")).toEqual({
    refused: {
      callback: { "unknown-token": 2, method: 1, "too-large": 1 },
      "webhook default": { "too-large": 1, "cut-off": 1 },
      webhook: { "unknown-connection": 1 },
      other: { "unknown-address": 2, malformed: 1, "head-too-large": 1, "too-slow": 1 },
    },
  });
  for (const hidden of [TOKEN, "admin", "forged", "other HTTP"]) expect(around.lines.join()).not.toContain(hidden);
});

test("callbacks that Temporal does not take are counted, not logged one by one", async () => {
  const around = new Surroundings();
  around.answer = () => Promise.resolve("unreachable");
  const { port, app } = await listen(around.options());
  for (let n = 0; n < 3; n += 1) expect((await send(port, "POST", PATH, "")).status).toBe(503);
  expect(around.lines).toEqual([]);
  await app.close();
  expect(around.lines).toEqual([expect.stringContaining('{"refused":{"callback":{"temporal-away":3}}}')]);
});

test("the line about refused requests comes while the receiver runs, and counts anew", async () => {
  const around = new Surroundings();
  const { port } = await listen(around.options({ lineEveryMs: 30 }));
  for (const lines of [1, 2]) {
    await send(port, "POST", "/callbacks/nonsense", "");
    await expect.poll(() => around.lines).toHaveLength(lines);
    expect(around.lines.at(-1)).toContain('{"refused":{"callback":{"unknown-token":1}}}');
  }
});
