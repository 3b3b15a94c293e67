import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { SECRET, PATH, WORKFLOW, Surroundings, listen, send, sendRaw } from "./test-support/listening-receiver.ts";
import { createCallbackToken } from "./callback-token.ts";

const PATIENT = { timeout: 5_000 };

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
    await expect.poll(() => new Set(around.signals.map(({ workflowId }) => workflowId)).size).toBe(50);
  });

  it("hold a callback beyond those in flight until one of them has ended, the first to come first", async () => {
    const around = new Surroundings();
    const release: (() => void)[] = [];
    around.answer = () => new Promise((resolve) => release.push(() => resolve("delivered")));
    const { app } = await listen(around.options({ maxInFlight: 1 }));
    const post = (sale: string) => {
      const token = createCallbackToken({ workflowId: sale }, SECRET);
      return app.inject({ method: "POST", url: `/callbacks/${token}` });
    };
    const answers = ["a", "b", "c"].map(post);
    for (let done = 0; done < 3; done += 1) {
      await expect.poll(() => release.length, PATIENT).toBe(done + 1);
      release[done]?.();
    }
    expect((await Promise.all(answers)).map(({ statusCode }) => statusCode)).toEqual([202, 202, 202]);
    expect(around.signals.map(({ workflowId }) => workflowId)).toEqual(["a", "b", "c"]);
  });

  it("answer 429 to what comes while as many are held as may be, and take more once some have left", async () => {
    const around = new Surroundings();
    const release: (() => void)[] = [];
    around.answer = () => new Promise((resolve) => release.push(() => resolve("delivered")));
    const { app } = await listen(around.options({ maxInFlight: 2, maxHeld: 1, refusedAfterMs: 50 }));
    let sales = 0;
    const post = () => {
      const token = createCallbackToken({ workflowId: `sale/${++sales}` }, SECRET);
      return app.inject({ method: "POST", url: `/callbacks/${token}` });
    };
    const first = [post(), post()];
    await expect.poll(() => release.length, PATIENT).toBe(2);
    expect((await post()).statusCode).toBe(202);
    const refused = await post();
    expect([refused.statusCode, refused.headers["retry-after"]]).toEqual([429, "1"]);
    for (const done of release) done();
    expect((await Promise.all(first)).map(({ statusCode }) => statusCode)).toEqual([202, 202]);
    await expect.poll(() => release.length, PATIENT).toBe(3);
    release[2]?.();
    around.answer = () => Promise.resolve("delivered");
    expect((await post()).statusCode).toBe(202);
  });

  it("signal one workflow once for callbacks that come together, and accept them all", async () => {
    const around = new Surroundings();
    const { app } = await listen(around.options());
    const post = async (url: string) => (await app.inject({ method: "POST", url })).statusCode;
    const statuses = await Promise.all(Array.from({ length: 9_000 }, () => post(PATH)));
    expect(new Set(statuses)).toEqual(new Set([202]));
    expect(await post(`/callbacks/${createCallbackToken({ workflowId: "another" }, SECRET)}`)).toBe(202);
    // Those of the first pause and of its end; nothing was lost, and the run is spared.
    expect(around.signals.filter(({ workflowId }) => workflowId === WORKFLOW).length).toBeLessThanOrEqual(5);
    await expect.poll(() => around.signals.length, PATIENT).toBeGreaterThanOrEqual(3);
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

  it("hold no more of bodies than fits, and close the connection of the oldest", async () => {
    const around = new Surroundings();
    const { port, url } = await listen(around.options({ bodyLimitBytes: 1_000, bodiesLimitBytes: 2_500 }));
    const head = `POST ${PATH} HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n`;
    const slow = [1, 2, 3].map(() => sendRaw(port, head + "x".repeat(900)).catch(() => ""));
    expect(await Promise.race(slow)).toBe("");
    expect((await fetch(url + PATH, { method: "POST", body: "x".repeat(900) })).status).toBe(202);
  });

  it("close a connection too many, and count it", async () => {
    const around = new Surroundings();
    const { port, url, app } = await listen(around.options({ maxConnections: 2 }));
    const silent = [1, 2].map(() => connect(port, "127.0.0.1").on("error", () => undefined));
    for (const socket of silent) await once(socket, "connect");
    await expect(fetch(`${url}/healthz`)).rejects.toThrow("fetch failed");
    silent[0]?.destroy();
    await expect
      .poll(
        () =>
          fetch(`${url}/healthz`).then(
            ({ status }) => status,
            () => 0,
          ),
        PATIENT,
      )
      .toBe(200);
    for (const socket of silent) socket.destroy();
    await app.close();
    expect(around.lines.join()).toMatch(/"other":\{"busy":\d+\}/);
  });

  it.each([
    ["a head", `POST ${PATH} HTTP/1.1\r\nHost: a\r\n`],
    ["a body", `POST ${PATH} HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n{"e`],
  ])("let nobody hold up the receiver's end by %s that never ends", async (_name, bytes) => {
    const timeouts = { headersMs: 50, requestMs: 60_000, checkEveryMs: 60_000 };
    const { port, app } = await listen(new Surroundings().options({ timeouts }));
    const socket = connect(port, "127.0.0.1", () => socket.write(bytes));
    socket.on("error", () => undefined).resume();
    await once(app.server, "connection");
    await expect.poll(() => socket.bytesWritten, PATIENT).toBe(bytes.length);
    let ended = false;
    void app.close().then(() => (ended = true));
    await expect.poll(() => ended, PATIENT).toBe(true);
  });

  it.each([
    ["no HTTP", "hello\r\n\r\n", "400"],
    ["an endless head", `GET / HTTP/1.1\r\nHost: a\r\nX: ${"x".repeat(20_000)}\r\n\r\n`, "431"],
  ])("answer a client that sends %s without a word about it", async (_name, bytes, status) => {
    const { port } = await listen(new Surroundings().options());
    expect(await sendRaw(port, bytes)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [A-Za-z ]+\r\n[^{]*$`));
  });
});
