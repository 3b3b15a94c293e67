import { METHODS, request as httpRequest } from "node:http";
import { connect } from "node:net";
import type { AddressInfo } from "node:net";
import type { FastifyInstance } from "fastify";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { createCallbackReceiver } from "./receiver.ts";
import type { ReceiverOptions, SignalOutcome } from "./receiver.ts";
import { createCallbackToken } from "./token.ts";

const SECRET = "a-secret-of-this-year-of-at-least-32";
const OLDER = "a-secret-of-last-year-of-at-least-32";
const WORKFLOW = "sale/default/biz_1/INV-1001";
const TOKEN = createCallbackToken({ workflowId: WORKFLOW }, SECRET);
const PATH = `/callbacks/${TOKEN}`;

const PATIENT = { timeout: 5_000 };

/** What the receiver did: the signals that it sent and every line that it logged. */
class Surroundings {
  readonly signals: { workflowId: string; callback: { event?: string } }[] = [];
  readonly lines: string[] = [];
  answer: () => Promise<SignalOutcome> = () => Promise.resolve("delivered");
  reachable: () => Promise<boolean> = () => Promise.resolve(true);

  options(overrides: Partial<ReceiverOptions> = {}): ReceiverOptions {
    const log = (fields: object, message: string) => void this.lines.push(`${JSON.stringify(fields)} ${message}`);
    return {
      secrets: [SECRET],
      client: {
        signalCallback: (workflowId, callback) => {
          this.signals.push({ workflowId, callback });
          return this.answer();
        },
        requestSync: () => Promise.resolve("unreachable"),
        isReachable: () => this.reachable(),
      },
      log: { debug: log, warn: log },
      ...overrides,
    };
  }
}

const open: FastifyInstance[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((app) => app.close()));
});

async function listen(options: ReceiverOptions): Promise<{ url: string; port: number; app: FastifyInstance }> {
  const app = createCallbackReceiver(options);
  open.push(app);
  await app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = app.server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, port, app };
}

/** For methods and bodies that fetch does not send. */
function send(port: number, method: string, path: string, body: string, headers: Record<string, string> = {}) {
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    const request = httpRequest({ host: "127.0.0.1", port, method, path, headers }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => (text += part));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
    });
    request.on("error", reject).end(body);
  });
}

/** Sends bytes as they are and resolves with all that came back once the connection is closed. */
function sendRaw(port: number, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = "";
    const socket = connect(port, "127.0.0.1", () => socket.write(bytes));
    socket.setEncoding("utf8").on("data", (part: string) => (answer += part));
    socket.on("error", reject).on("close", () => resolve(answer));
  });
}

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
    const { port } = await listen(around.options({ rateLimit: { burst: 1_000 } }));
    const statuses: Record<string, number> = {};
    for (const method of METHODS.filter((name) => name !== "CONNECT")) {
      const { status } = await send(port, method, PATH, "");
      const headers = { "content-type": "application/json", "content-length": "14" };
      const withBody = await send(port, method, PATH, '{"event":"e1"}', headers);
      expect([method, withBody.status]).toEqual([method, status]);
      statuses[method] = status;
    }
    const { HEAD, OPTIONS, ...others } = statuses;
    expect([HEAD, OPTIONS]).toEqual([405, 405]);
    expect(new Set(Object.values(others))).toEqual(new Set([202]));
    expect(around.signals.filter(({ callback }) => callback.event === "e1")).toHaveLength(Object.keys(others).length);
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

  it("is accepted chunked, and its event is still read", async () => {
    const around = new Surroundings();
    const { port } = await listen(around.options());
    const headers = { "transfer-encoding": "chunked" };
    expect((await send(port, "PUT", PATH, '{"event":"sale.failed"}', headers)).status).toBe(202);
    expect(around.signals[0]?.callback.event).toBe("sale.failed");
  });

  it("is answered 202 too when the workflow has closed or never was", async () => {
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
    ["a slash behind it", `${PATH}/`],
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

describe("the bounds of the receiver", () => {
  it("accept a body of exactly the limit and refuse one byte more with 413", async () => {
    const around = new Surroundings();
    const { url } = await listen(around.options({ bodyLimitBytes: 1_000 }));
    expect((await fetch(url + PATH, { method: "POST", body: "x".repeat(1_000) })).status).toBe(202);
    expect((await fetch(url + PATH, { method: "POST", body: "x".repeat(1_001) })).status).toBe(413);
    expect(around.signals).toHaveLength(1);
  });

  it("refuse a chunked body over the default limit of 1 MiB with 413", async () => {
    const around = new Surroundings();
    const { port } = await listen(around.options());
    const headers = { "transfer-encoding": "chunked" };
    expect((await send(port, "POST", PATH, "x".repeat(1_048_577), headers)).status).toBe(413);
    expect(around.signals).toEqual([]);
  });

  it("refuse a huge announced body without waiting for it", async () => {
    const around = new Surroundings();
    const { port } = await listen(around.options());
    const answer = await sendRaw(port, `POST ${PATH} HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
  });

  it("stop reading a chunked body without an end", async () => {
    const around = new Surroundings();
    const { port } = await listen(around.options({ bodyLimitBytes: 100 }));
    const chunk = `400\r\n${"x".repeat(1_024)}\r\n`;
    const answer = await sendRaw(
      port,
      `POST ${PATH} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${chunk}`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
  });

  it("let 50 callbacks through at the same time", async () => {
    const around = new Surroundings();
    const { url } = await listen(around.options());
    const tokens = Array.from({ length: 50 }, (_, index) =>
      createCallbackToken({ workflowId: `sale/${index}` }, SECRET),
    );
    const responses = await Promise.all(tokens.map((token) => fetch(`${url}/callbacks/${token}`, { method: "POST" })));
    expect(responses.map(({ status }) => status)).toEqual(tokens.map(() => 202));
    expect(new Set(around.signals.map(({ workflowId }) => workflowId)).size).toBe(50);
  });

  it("answer 429 to what exceeds the callbacks in flight, and take more once those have ended", async () => {
    const around = new Surroundings();
    const release: (() => void)[] = [];
    around.answer = () => new Promise((resolve) => release.push(() => resolve("delivered")));
    const { app } = await listen(around.options({ maxInFlight: 2 }));
    const post = () => app.inject({ method: "POST", url: PATH });
    const first = [post(), post()];
    await expect.poll(() => release.length, PATIENT).toBe(2);
    const refused = await post();
    expect([refused.statusCode, refused.headers["retry-after"]]).toEqual([429, "1"]);
    for (const done of release) done();
    expect((await Promise.all(first)).map(({ statusCode }) => statusCode)).toEqual([202, 202]);
    around.answer = () => Promise.resolve("delivered");
    expect((await post()).statusCode).toBe(202);
  });

  it("answer 429 to a sender that repeats one callback without end, and to no other", async () => {
    const around = new Surroundings();
    let nowMs = 0;
    const { app } = await listen(around.options({ rateLimit: { burst: 3, refillMs: 60_000 }, clock: () => nowMs }));
    const post = async (url: string) => (await app.inject({ method: "POST", url })).statusCode;
    expect([await post(PATH), await post(PATH), await post(PATH), await post(PATH)]).toEqual([202, 202, 202, 429]);
    expect(await post(`/callbacks/${createCallbackToken({ workflowId: "another" }, SECRET)}`)).toBe(202);
    nowMs = 60_000;
    expect(await post(PATH)).toBe(202);
  });

  it.each([
    ["the head", `POST ${PATH} HTTP/1.1\r\nHost: a\r\n`],
    ["the body", `POST ${PATH} HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n{"e`],
  ])("cut a client that never finishes %s", async (_name, bytes) => {
    const around = new Surroundings();
    const timeouts = { headersMs: 50, requestMs: 100, checkEveryMs: 20 };
    const { port } = await listen(around.options({ timeouts }));
    expect(await sendRaw(port, bytes)).toMatch(/^HTTP\/1\.1 408 /);
    expect(around.signals).toEqual([]);
  });

  it("do not count a client that went away", async () => {
    const around = new Surroundings();
    const { port, url } = await listen(around.options({ maxInFlight: 1 }));
    const socket = connect(port, "127.0.0.1");
    socket.write(`POST ${PATH} HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n{"e`);
    const status = async () => (await fetch(url + PATH, { method: "POST" })).status;
    await expect.poll(status, PATIENT).toBe(429);
    socket.destroy();
    await expect.poll(status, PATIENT).toBe(202);
  });

  it.each([
    ["no HTTP", "hello\r\n\r\n", "400"],
    ["an endless head", `GET / HTTP/1.1\r\nHost: a\r\nX: ${"x".repeat(20_000)}\r\n\r\n`, "431"],
  ])("answer a client that sends %s without a word about it", async (_name, bytes, status) => {
    const { port } = await listen(new Surroundings().options());
    expect(await sendRaw(port, bytes)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [A-Za-z ]+\r\n[^{]*$`));
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
  it.each([[[]], [[SECRET, ""]]])("is not made: %j", (secrets) => {
    expect(() => createCallbackReceiver(new Surroundings().options({ secrets }))).toThrow(/at least one secret/);
  });
});

describe("what the receiver says", () => {
  it("names the workflow in its log and never a token or a secret", async () => {
    const around = new Surroundings();
    const { url, port } = await listen(around.options());
    await fetch(url + PATH, { method: "POST", body: '{"event":"sale.completed"}' });
    around.answer = () => Promise.reject(new Error(`cannot signal ${TOKEN}`));
    await fetch(url + PATH, { method: "POST" });
    await send(port, "POST", `${PATH}%zz`, "");
    await send(port, "POST", `${PATH}x`, "");
    const log = around.lines.join("\n");
    expect(log).toContain(WORKFLOW);
    expect(log).toContain("sale.completed");
    for (const hidden of [TOKEN, TOKEN.split(".")[2] ?? TOKEN, SECRET]) expect(log).not.toContain(hidden);
  });

  it("is one of its answers, never a 5xx but 503 and never a stack, for 10,000 requests of any kind", async () => {
    const around = new Surroundings();
    const outcomes: SignalOutcome[] = ["delivered", "gone", "unreachable"];
    let calls = 0;
    around.answer = () => {
      calls += 1;
      const outcome = outcomes[calls % 4];
      return outcome === undefined ? Promise.reject(new Error("broken")) : Promise.resolve(outcome);
    };
    const app = createCallbackReceiver(around.options({ rateLimit: { burst: 50 }, bodyLimitBytes: 300 }));
    open.push(app);
    const segment = fc.oneof(
      fc.constantFrom("callbacks", "healthz", "readyz", TOKEN, "..", "%00", "%", ""),
      fc.string(),
    );
    const url = fc.oneof(
      { weight: 3, arbitrary: fc.constant(PATH) },
      { weight: 2, arbitrary: fc.array(segment, { maxLength: 4 }).map((parts) => `/${parts.join("/")}`) },
      fc.string({ maxLength: 50 }).map((text) => `/callbacks/${encodeURIComponent(text)}?${text}`),
    );
    const request = fc.record({
      method: fc.constantFrom("POST", "GET", "PUT", "DELETE", "PATCH", "QUERY", "HEAD", "OPTIONS", "TRACE", "LOCK"),
      url,
      payload: fc.oneof(fc.constant(undefined), fc.json(), fc.string({ unit: "binary", maxLength: 400 })),
      contentType: fc.constantFrom(undefined, "application/json", "text/xml", ";", "multipart/form-data"),
    });
    const answers = new Set([200, 202, 404, 405, 413, 429, 503]);
    await fc.assert(
      fc.asyncProperty(request, async ({ method, url: path, payload, contentType }) => {
        fc.pre(URL.canParse(path, "http://localhost"));
        const headers = contentType === undefined ? {} : { "content-type": contentType };
        const response = await app.inject({ method: method as "POST", url: path, payload, headers });
        expect(answers).toContain(response.statusCode);
        expect(["", '{"status":"alive"}', '{"status":"ready"}']).toContain(response.body);
      }),
      { numRuns: 10_000 },
    );
    expect(around.signals.length).toBeGreaterThan(20);
  }, 60_000);
});
