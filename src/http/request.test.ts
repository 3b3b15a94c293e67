import { once } from "node:events";
import { createServer, type AddressInfo, type Server } from "node:net";
import { Agent, buildConnector, interceptors } from "undici";
import { afterEach, describe, expect, test } from "vitest";
import { Deadline } from "./deadline.ts";
import { TransportError } from "./errors.ts";
import { sendRequest, type SendOptions } from "./request.ts";
import { respondJson, type Respond, startStubServer } from "./test-support/stub-server.ts";

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

function agent(options?: Agent.Options): Agent {
  const made = new Agent(options);
  cleanups.push(() => made.destroy());
  return made;
}

async function stub(respond: Respond) {
  const server = await startStubServer(respond);
  cleanups.push(() => server.close());
  return server;
}

/** A server below HTTP. */
async function rawServer(onData: Parameters<typeof createServer>[1]): Promise<string> {
  const server: Server = createServer(onData);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanups.push(async () => server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function request(url: string, options: Partial<SendOptions> = {}) {
  return sendRequest({
    dispatcher: options.dispatcher ?? agent(),
    method: "GET",
    url: new URL(url),
    headers: {},
    timeoutMs: 5_000,
    maxBodyBytes: 1_000_000,
    ...options,
  });
}

async function failure(call: Promise<unknown>): Promise<TransportError> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(TransportError);
  return error as TransportError;
}

describe("a request with a deadline for its first byte", () => {
  /** A deadline of a second, by a clock that is set on once the connection is there. */
  async function sentAfter(passedMs: number) {
    const server = await stub((response) => respondJson(response, 200, {}));
    const clock = { monotonicMs: 0 };
    const sendBefore = new Deadline(1_000, { monotonicMs: () => clock.monotonicMs, wallMs: () => 0 });
    const connector = buildConnector({});
    const dispatcher = agent({
      connect: (options, done) =>
        connector(options, (...connected) => {
          clock.monotonicMs += passedMs;
          done(...connected);
        }),
    });
    const call = request(server.baseUrl, { method: "POST", body: "{}", dispatcher, sendBefore });
    return { server, call };
  }

  test("is sent where connecting leaves time", async () => {
    const { server, call } = await sentAfter(999);
    expect(await call).toMatchObject({ status: 200 });
    expect(server.requests).toHaveLength(1);
  });

  test("sends no byte where the deadline passes while the connection is made", async () => {
    const { server, call } = await sentAfter(1_000);
    expect(await failure(call)).toMatchObject({ code: "too-late", sent: "no", sentAtMs: undefined });
    expect([server.connections(), server.requests]).toEqual([1, []]);
  });
});

describe("an answer that is read piece by piece", () => {
  const body = Buffer.alloc(3_000_000, "receipt ");

  test("comes whole and in order, one piece at a time, and is not kept", async () => {
    const server = await stub((response) => response.writeHead(200).end(body));
    const pieces: Uint8Array[] = [];
    let [busy, most] = [0, 0];
    const answer = await request(server.baseUrl, {
      maxBodyBytes: body.length,
      onBody: async (piece) => {
        busy += 1;
        most = Math.max(most, busy);
        await new Promise((resolve) => setImmediate(resolve));
        pieces.push(Buffer.from(piece));
        busy -= 1;
      },
    });
    expect(Buffer.concat(pieces).equals(body)).toBe(true);
    expect(pieces.length).toBeGreaterThan(1);
    expect(most).toBe(1);
    expect(answer).toMatchObject({ status: 200, bodyText: "", bodyLength: body.length });
    expect("json" in answer).toBe(false);
  });

  test("is kept as any other where it is no success", async () => {
    const server = await stub((response) => respondJson(response, 404, { error: 1 }));
    const onBody = () => Promise.reject(new Error("not a piece of the file"));
    expect(await request(server.baseUrl, { onBody })).toMatchObject({ status: 404, json: { error: 1 } });
  });

  test("ends the call where a piece cannot be kept, and where it is longer than allowed", async () => {
    const server = await stub((response) => response.writeHead(200).end(body));
    const full = Object.assign(new Error("disk full"), { code: "ENOSPC" });
    const unkept = await failure(request(server.baseUrl, { maxBodyBytes: 4e6, onBody: () => Promise.reject(full) }));
    expect(unkept).toMatchObject({ code: "body-unreadable", cause: full, answered: { status: 200 } });
    expect(unkept.message).toContain("the answer could not be kept (ENOSPC)");
    const long = failure(request(server.baseUrl, { maxBodyBytes: 2e6, onBody: () => Promise.resolve() }));
    expect(await long).toMatchObject({ code: "body-too-large" });
  });

  test("ends the call in time where a piece is not done", async () => {
    const server = await stub((response) => response.writeHead(200).end(body));
    const stuck = failure(request(server.baseUrl, { timeoutMs: 200, onBody: () => new Promise(() => undefined) }));
    expect(await stuck).toMatchObject({ code: "timeout" });
  });
});

describe("an answer that comes whole", () => {
  test.each([200, 404, 422, 500])(
    "is returned with status %i, headers in lower case, text and JSON",
    async (status) => {
      const server = await stub((response) =>
        respondJson(response, status, { a: "ä" }, { "X-RateLimit-Limit": "120" }),
      );
      const answer = await request(`${server.baseUrl}/v1/sales?businessId=b%201`, { method: "POST", body: '{"é":1}' });
      expect(answer).toMatchObject({ status, bodyText: '{"a":"ä"}', json: { a: "ä" } });
      expect(answer.headers["x-ratelimit-limit"]).toBe("120");
      expect(answer.answeredAtMs).toBeGreaterThanOrEqual(answer.sentAtMs);
      expect(server.requests).toMatchObject([
        { method: "POST", target: "/v1/sales?businessId=b%201", body: '{"é":1}' },
      ]);
    },
  );

  test("has no json when its body is not JSON", async () => {
    const server = await stub((response) => response.writeHead(502).end("<html>bad gateway</html>"));
    const answer = await request(server.baseUrl);
    expect(answer.bodyText).toContain("bad gateway");
    expect("json" in answer).toBe(false);
  });

  test("that redirects is not followed", async () => {
    const server = await stub((response) => response.writeHead(307, { location: "/elsewhere" }).end());
    expect((await request(server.baseUrl)).status).toBe(307);
    expect(server.requests).toHaveLength(1);
  });
});

describe("a request is known to be unsent", () => {
  test("when the connection is refused", async () => {
    const server = await startStubServer(() => {});
    await server.close();
    const error = await failure(request(server.baseUrl, { method: "POST", body: "{}" }));
    expect(error).toMatchObject({ code: "not-sent", sent: "no", sentAtMs: undefined });
    expect(error.message).toContain("ECONNREFUSED");
    expect(error.cause).toBeInstanceOf(Error);
  });

  test.each(["ENOTFOUND", "EAI_AGAIN"])("when the name is not found (%s)", async (code) => {
    const notFound = Object.assign(new Error("no such name"), { code });
    const dispatcher = agent({ connect: { lookup: (_name, _options, done) => done(notFound, "") } });
    expect(await failure(request("http://api.invalid/", { dispatcher }))).toMatchObject({
      code: "not-sent",
      sent: "no",
    });
  });

  test("when the peer does not speak TLS", async () => {
    const address = await rawServer((socket) => socket.on("error", () => {}).end("HTTP/1.1 400 Bad Request\r\n\r\n"));
    expect(await failure(request(`https://${address}/`))).toMatchObject({ code: "not-sent", sent: "no" });
  });

  test("when the peer resets the connection during the TLS handshake", async () => {
    const address = await rawServer((socket) =>
      socket.on("error", () => {}).once("data", () => socket.resetAndDestroy()),
    );
    expect(await failure(request(`https://${address}/`))).toMatchObject({ code: "not-sent", sent: "no" });
  });

  test("when the connect timeout is reached", async () => {
    const timedOut = Object.assign(new Error("connect timeout"), { code: "UND_ERR_CONNECT_TIMEOUT" });
    const dispatcher = agent({ connect: (_options, done) => done(timedOut, null) });
    expect(await failure(request("http://127.0.0.1/", { dispatcher }))).toMatchObject({ code: "not-sent", sent: "no" });
  });

  test("when the dispatcher is closed, or refuses what it is given", async () => {
    const closed = agent();
    await closed.close();
    expect(await failure(request("http://127.0.0.1/", { dispatcher: closed }))).toMatchObject({ sent: "no" });
    const badHeader = request("http://127.0.0.1/", { headers: { "x-api-key": "secret\nvalue" } });
    const error = await failure(badHeader);
    expect(error).toMatchObject({ code: "not-sent", sent: "no" });
    expect(`${error.message} ${String(error.cause)}`).not.toContain("secret");
  });

  test("when the signal was aborted before", async () => {
    const server = await stub((response) => respondJson(response, 200, {}));
    const aborted = await failure(request(server.baseUrl, { signal: AbortSignal.abort("enough") }));
    expect(aborted).toMatchObject({ code: "aborted", sent: "no", cause: "enough" });
    expect(server.requests).toHaveLength(0);
  });

  test.each(["timeout", "aborted"] as const)(
    "when it ends by %s while it waits for a connection, also later",
    async (code) => {
      const server = await stub((response) => respondJson(response, 200, {}));
      const connect = buildConnector({});
      let atConnector: (letConnect: () => void) => void = () => {};
      const connecting = new Promise<() => void>((resolve) => (atConnector = resolve));
      let attempts = 0;
      const dispatcher = agent({
        connections: 1,
        connect: (options, done) => {
          attempts += 1;
          if (attempts === 1) atConnector(() => connect(options, done));
          else connect(options, done);
        },
      });
      const abort = new AbortController();
      const body = { method: "POST" as const, body: "{}", dispatcher };
      const first = failure(
        request(`${server.baseUrl}/first`, {
          ...body,
          signal: abort.signal,
          timeoutMs: code === "timeout" ? 1 : 5_000,
        }),
      );
      const letConnect = await connecting;
      if (code === "aborted") abort.abort();
      expect(await first).toMatchObject({ code, sent: "no" });

      letConnect();
      await request(`${server.baseUrl}/second`, body);
      expect(server.requests.map(({ target }) => target)).toEqual(["/second"]);
    },
  );
});

describe("a request may have arrived", () => {
  test("when the peer resets the connection after the request", async () => {
    const address = await rawServer((socket) =>
      socket.on("error", () => {}).once("data", () => socket.resetAndDestroy()),
    );
    const error = await failure(request(`http://${address}/`, { method: "POST", body: "{}" }));
    expect(error).toMatchObject({ code: "connection-lost", sent: "maybe", answered: undefined });
    expect(error.sentAtMs).toBeTypeOf("number");
  });

  test("when the peer closes without an answer, or answers nonsense", async () => {
    const silent = await rawServer((socket) => socket.once("data", () => socket.end()));
    expect(await failure(request(`http://${silent}/`))).toMatchObject({ code: "connection-lost", sent: "maybe" });
    const nonsense = await rawServer((socket) => socket.once("data", () => socket.end("what?\r\n\r\n")));
    expect(await failure(request(`http://${nonsense}/`))).toMatchObject({ code: "connection-lost", sent: "maybe" });
  });

  test("when no answer comes in time", async () => {
    const server = await stub(() => {});
    expect(await failure(request(server.baseUrl, { timeoutMs: 150 }))).toMatchObject({
      code: "timeout",
      sent: "maybe",
    });
  });

  test("when the body does not end in time; the status is kept", async () => {
    const server = await stub((response) => response.writeHead(201).write('{"data":'));
    const error = await failure(request(server.baseUrl, { timeoutMs: 150 }));
    expect(error).toMatchObject({ code: "timeout", sent: "maybe", answered: { status: 201 } });
  });

  test("when the body breaks off", async () => {
    const server = await stub((response) => {
      response.writeHead(201, { "content-length": "100" }).write("{", () => response.destroy());
    });
    const error = await failure(request(server.baseUrl));
    expect(error).toMatchObject({ code: "body-unreadable", sent: "maybe", answered: { status: 201 } });
  });

  test("when the body is longer than allowed", async () => {
    const server = await stub((response) => response.end("x".repeat(2_000)));
    const error = await failure(request(server.baseUrl, { maxBodyBytes: 1_000 }));
    expect(error).toMatchObject({ code: "body-too-large", sent: "maybe", answered: { status: 200 } });
  });

  test("when the caller gives up while it waits for the answer", async () => {
    const abort = new AbortController();
    const server = await stub(() => abort.abort());
    expect(await failure(request(server.baseUrl, { signal: abort.signal }))).toMatchObject({
      code: "aborted",
      sent: "maybe",
    });
  });
});

test("a dispatcher that retries cannot send a request twice", async () => {
  const server = await stub((response) => response.destroy());
  const dispatcher = agent().compose(interceptors.retry({ methods: ["POST"], minTimeout: 1, maxRetries: 3 }));
  const error = await failure(request(server.baseUrl, { dispatcher, method: "POST", body: "{}" }));
  expect(error).toMatchObject({ sent: "maybe" });
  expect(server.requests.length).toBe(1);
});
