import { afterEach, expect, test } from "vitest";

import { respondJson, startStubServer, type StubServer } from "./test-support/stub-server.ts";
import { createDispatchers, createTransport, type OwnedDispatchers } from "./transport.ts";

let server: StubServer | undefined;
let dispatchers: OwnedDispatchers | undefined;
afterEach(async () => {
  await dispatchers?.close();
  await server?.close();
});

test("a request on a fresh connection shares it with no other, and reads go on sharing theirs", async () => {
  server = await startStubServer((response) => respondJson(response, 200, {}));
  dispatchers = createDispatchers();
  const transport = createTransport(dispatchers);
  const url = new URL(server.baseUrl);
  const send = (freshConnection: boolean) =>
    transport.send({ method: "POST", url, headers: {}, timeoutMs: 5_000, maxBodyBytes: 1_000, freshConnection });

  for (const fresh of [false, true, false, true]) await send(fresh);

  const [first, second, third, fourth] = server.requests;
  expect(third?.connection).toBe(first?.connection);
  expect(new Set([first?.connection, second?.connection, fourth?.connection]).size).toBe(3);
  expect(second?.headers.connection).toBe("close");
  expect(fourth?.headers.connection).toBe("close");
});

test("a fresh connection that is refused has sent nothing, and the clock is the injected one", async () => {
  server = await startStubServer((response) => respondJson(response, 200, {}));
  dispatchers = createDispatchers({ connectTimeoutMs: 1_000 });
  const transport = createTransport(dispatchers, () => 1_234);
  const request = { method: "GET", headers: {}, timeoutMs: 5_000, maxBodyBytes: 1_000 } as const;
  const url = new URL(server.baseUrl);
  expect(await transport.send({ ...request, url })).toMatchObject({ sentAtMs: 1_234, answeredAtMs: 1_234 });
  await server.close();
  server = undefined;
  await expect(transport.send({ ...request, url, freshConnection: true })).rejects.toMatchObject({ sent: "no" });
});

test("many requests that are not answered hold up no other to the same service", async () => {
  server = await startStubServer((response, { target }) => {
    if (target !== "/hangs") respondJson(response, 200, {});
  });
  dispatchers = createDispatchers();
  const transport = createTransport(dispatchers);
  const { baseUrl } = server;
  const send = (path: string) => {
    const url = new URL(path, baseUrl);
    return transport.send({ method: "GET", url, headers: {}, timeoutMs: 5_000, maxBodyBytes: 1_000 });
  };
  // As many as ten shops of one service may have under way at once: each has its own places in the worker.
  const hanging = Array.from({ length: 200 }, () => send("/hangs"));
  const ended = Promise.allSettled(hanging);
  expect(await send("/answers")).toMatchObject({ status: 200 });
  await server.close();
  server = undefined;
  await ended;
});
