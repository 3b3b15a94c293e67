import { expect, test } from "vitest";

import { type Readiness, startHealthServer } from "./health.ts";

test("the health server answers /healthz and /readyz, and nothing else", async () => {
  let readiness: Readiness | Error = { ready: false, reason: "starting" };
  const server = await startHealthServer({ host: "127.0.0.1", port: 0 }, async () => {
    if (readiness instanceof Error) throw readiness;
    return readiness;
  });
  const ask = async (path: string, method = "GET") => {
    const answer = await fetch(`http://127.0.0.1:${server.port}${path}`, { method });
    return [answer.status, await answer.text()];
  };
  expect(await ask("/healthz")).toEqual([200, '{"status":"alive"}']);
  expect(await ask("/readyz?verbose")).toEqual([503, '{"status":"not ready","reason":"starting"}']);
  readiness = { ready: true };
  expect(await ask("/readyz")).toEqual([200, '{"status":"ready"}']);
  readiness = new Error("secret detail");
  expect(await ask("/readyz")).toEqual([503, '{"status":"not ready","reason":"the check failed"}']);
  expect((await ask("/readyz", "POST"))[0]).toBe(405);
  expect((await ask("/metrics"))[0]).toBe(404);
  await server.close();
});

test("the health server names a port that is taken", async () => {
  const first = await startHealthServer({ host: "127.0.0.1", port: 0 }, () => Promise.resolve({ ready: true }));
  await expect(
    startHealthServer({ host: "127.0.0.1", port: first.port }, () => Promise.resolve({ ready: true })),
  ).rejects.toThrow(`HEALTH_PORT ${first.port} cannot be used (EADDRINUSE). Choose another port.`);
  await first.close();
});

test("the health server listens on the given address, and names one that this machine does not have", async () => {
  const ready = () => Promise.resolve({ ready: true } as const);
  const server = await startHealthServer({ host: "0.0.0.0", port: 0 }, ready);
  expect((await fetch(`http://127.0.0.1:${server.port}/readyz`)).status).toBe(200);
  await server.close();
  await expect(startHealthServer({ host: "192.0.2.1", port: 0 }, ready)).rejects.toThrow(
    "MONITORING_HOST 192.0.2.1 is not an address of this machine (EADDRNOTAVAIL). Choose one that is, or 0.0.0.0 for all.",
  );
});
