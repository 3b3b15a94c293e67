import { METHODS } from "node:http";
import { describe, expect, it } from "vitest";
import { createCallbackReceiver } from "./receiver.ts";
import type { SignalOutcome } from "./temporal-signaller.ts";
import {
  SECRET,
  OLDER,
  WORKFLOW,
  TOKEN,
  PATH,
  Surroundings,
  listen,
  send,
  sendRaw,
} from "./test-support/listening-receiver.ts";
import { createCallbackToken } from "./callback-token.ts";

describe("a callback with a token that verifies", () => {
  it("signals its workflow and answers 202 with nothing in it", async () => {
    const around = new Surroundings();
    const { url } = await listen(around.options());
    const response = await fetch(url + PATH, { method: "POST", body: '{"event":"sale.completed","status":"failed"}' });
    expect([response.status, await response.text()]).toEqual([202, ""]);
    expect(around.signals).toEqual([{ workflowId: WORKFLOW, callback: { event: "sale.completed" } }]);
  });

  it("is accepted by every method but HEAD and OPTIONS, with and without a body", async () => {
    const around = new Surroundings();
    const { port } = await listen(around.options());
    const statuses: Record<string, number> = {};
    for (const method of METHODS.filter((name) => name !== "CONNECT")) {
      const pathOf = (workflowId: string) => `/callbacks/${createCallbackToken({ workflowId }, SECRET)}`;
      const { status } = await send(port, method, pathOf(`sale/${method}/bare`), "");
      const headers = { "content-type": "application/json", "content-length": "14" };
      const withBody = await send(port, method, pathOf(`sale/${method}/body`), '{"event":"e1"}', headers);
      expect([method, withBody.status]).toEqual([method, status]);
      statuses[method] = status;
    }
    const { HEAD, OPTIONS, ...others } = statuses;
    expect([HEAD, OPTIONS]).toEqual([405, 405]);
    expect(new Set(Object.values(others))).toEqual(new Set([202]));
    const withEvent = () => around.signals.filter(({ callback }) => callback.event === "e1").length;
    await expect.poll(withEvent).toBe(Object.keys(others).length);
  });

  it.each([
    "application/json",
    "application/x-www-form-urlencoded",
    "text/plain",
    "application/cloudevents+json",
    ";;",
    "x",
  ])("is accepted with the content type %s", async (contentType) => {
    const around = new Surroundings();
    const { port } = await listen(around.options());
    const { status } = await send(port, "POST", PATH, "{ this is not JSON", { "content-type": contentType });
    expect(status).toBe(202);
    expect(around.signals).toEqual([{ workflowId: WORKFLOW, callback: {} }]);
  });

  it("is accepted with a chunked body, whose event is read", async () => {
    const around = new Surroundings();
    const { port } = await listen(around.options());
    const headers = { "transfer-encoding": "chunked" };
    expect((await send(port, "PUT", PATH, '{"event":"sale.failed"}', headers)).status).toBe(202);
    expect(around.signals[0]?.callback.event).toBe("sale.failed");
  });

  it("is answered 202 even if the workflow has closed or never existed", async () => {
    const around = new Surroundings();
    around.answer = () => Promise.resolve("gone");
    const { url } = await listen(around.options());
    expect((await fetch(url + PATH, { method: "POST" })).status).toBe(202);
  });

  it.each([
    ["is unreachable", () => Promise.resolve<SignalOutcome>("unreachable")],
    ["breaks the promise", () => Promise.reject<SignalOutcome>(new Error("socket hang up"))],
  ])("is answered 503 when Temporal %s, so that the sender tries again", async (_name, answer) => {
    const around = new Surroundings();
    around.answer = answer;
    const { url } = await listen(around.options());
    const response = await fetch(url + PATH, { method: "POST", body: "{}" });
    expect([response.status, await response.text()]).toEqual([503, ""]);
  });

  it("is recognised when the sender escapes its characters or adds a query", async () => {
    const around = new Surroundings();
    const { port } = await listen(around.options());
    const escaped = TOKEN.split("")
      .map((letter) => `%${letter.charCodeAt(0).toString(16)}`)
      .join("");
    expect((await send(port, "POST", `/callbacks/${escaped}?attempt=2`, "")).status).toBe(202);
    expect(around.signals[0]?.workflowId).toBe(WORKFLOW);
  });

  const escapedToken = TOKEN.split("")
    .map((letter) => `%${letter.charCodeAt(0).toString(16)}`)
    .join("");
  const host = "Host: a\r\nConnection: close\r\n";
  const json = `Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`;
  it.each([
    ["with a slash behind it", `POST ${PATH}/ HTTP/1.1\r\n${host}${json}`],
    ["with two slashes behind it", `POST ${PATH}// HTTP/1.1\r\n${host}${json}`],
    ["with a doubled first slash", `POST /${PATH} HTTP/1.1\r\n${host}${json}`],
    ["with slashes doubled everywhere", `POST //callbacks///${TOKEN}// HTTP/1.1\r\n${host}${json}`],
    ["with doubled slashes and a query", `POST //callbacks//${TOKEN}/?a=1//2 HTTP/1.1\r\n${host}${json}`],
    ["percent-encoded, with doubled slashes", `POST //callbacks//${escapedToken}/ HTTP/1.1\r\n${host}${json}`],
    ["percent-encoded", `POST /callbacks/${escapedToken} HTTP/1.1\r\n${host}${json}`],
    ["with a query", `POST ${PATH}?attempt=2&event=x HTTP/1.1\r\n${host}${json}`],
    ["over HTTP/1.0", `POST ${PATH} HTTP/1.0\r\n${json}`],
    ["with Expect: 100-continue", `POST ${PATH} HTTP/1.1\r\n${host}Expect: 100-continue\r\n${json}`],
    ["in chunks", `POST ${PATH} HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`],
    [
      "as a form",
      `POST ${PATH} HTTP/1.1\r\n${host}Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 3\r\n\r\na=1`,
    ],
    ["without a body", `POST ${PATH} HTTP/1.1\r\n${host}\r\n`],
    ["by GET", `GET ${PATH} HTTP/1.1\r\n${host}\r\n`],
    ["by PUT", `PUT ${PATH} HTTP/1.1\r\n${host}${json}`],
    ["by an absolute address", `POST http://a${PATH} HTTP/1.1\r\n${host}${json}`],
    ["by an absolute address with doubled slashes", `POST http://a//callbacks//${TOKEN}/ HTTP/1.1\r\n${host}${json}`],
  ])("is accepted when it is sent %s", async (_form, bytes) => {
    const around = new Surroundings();
    const { port } = await listen(around.options());
    expect((await sendRaw(port, bytes)).replace("HTTP/1.1 100 Continue\r\n\r\n", "")).toMatch(/^HTTP\/1\.1 202 /);
    expect(around.signals.map(({ workflowId }) => workflowId)).toEqual([WORKFLOW]);
  });

  it("is recognised for the longest workflow id", async () => {
    const around = new Surroundings();
    const { url } = await listen(around.options());
    const workflowId = "x".repeat(200);
    await fetch(`${url}/callbacks/${createCallbackToken({ workflowId }, SECRET)}`, { method: "POST" });
    expect(around.signals).toEqual([{ workflowId, callback: {} }]);
  });

  it("is recognised under every secret that is still honoured", async () => {
    const around = new Surroundings();
    const { url } = await listen(around.options({ secrets: [SECRET, OLDER] }));
    for (const [secret, status] of [
      [SECRET, 202],
      [OLDER, 202],
      ["one that nobody honours any more!", 404],
    ] as const) {
      const token = createCallbackToken({ workflowId: WORKFLOW }, secret);
      expect((await fetch(`${url}/callbacks/${token}`, { method: "POST" })).status).toBe(status);
    }
  });
});

describe("a callback whose token does not verify", () => {
  it.each([
    ["another signature", `${PATH.slice(0, -1)}${PATH.endsWith("A") ? "B" : "A"}`],
    ["something behind it", `${PATH}/more`],
    ["no token", "/callbacks/"],
    ["a path that cannot be decoded", "/callbacks/%zz"],
    ["a token that is far too long", `/callbacks/${"a".repeat(5_000)}`],
    ["an upper-case path", PATH.replace("callbacks", "CALLBACKS")],
  ])("is answered 404 with nothing in it: %s", async (_name, path) => {
    const around = new Surroundings();
    const { port } = await listen(around.options());
    expect(await send(port, "POST", path, "{}")).toEqual({ status: 404, text: "" });
    expect(around.signals).toEqual([]);
  });
});

describe("the health of the receiver", () => {
  it("is alive whether or not Temporal answers, and ready only when it does", async () => {
    const around = new Surroundings();
    let nowMs = 0;
    const { url } = await listen(around.options({ clock: () => nowMs }));
    const status = async (path: string) => (await fetch(url + path)).status;
    expect([await status("/healthz"), await status("/readyz")]).toEqual([200, 200]);
    around.reachable = () => Promise.resolve(false);
    nowMs += 1_000;
    expect([await status("/healthz"), await status("/readyz")]).toEqual([200, 503]);
    around.reachable = () => Promise.reject(new Error("no connection"));
    nowMs += 1_000;
    expect(await status("/readyz")).toBe(503);
  });

  it("asks Temporal at most once a second, however many ask", async () => {
    const around = new Surroundings();
    let asked = 0;
    around.reachable = () => {
      asked += 1;
      return Promise.resolve(true);
    };
    const { url } = await listen(around.options({ clock: () => 0 }));
    await Promise.all(Array.from({ length: 20 }, () => fetch(`${url}/readyz`)));
    expect(asked).toBe(1);
  });
});

describe("a receiver without a secret", () => {
  it.each([[[]], [[SECRET, ""]]])("is refused at its start: %j", (secrets) => {
    expect(() => createCallbackReceiver(new Surroundings().options({ secrets }))).toThrow(/at least one secret/);
  });
});
