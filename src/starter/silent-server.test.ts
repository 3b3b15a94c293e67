import { createServer, type Server, type Socket } from "node:net";
import { Client, Connection, ServiceError } from "@temporalio/client";
import { afterAll, beforeAll, expect, test } from "vitest";

import { createStarter, type Starter } from "./index.ts";

const sockets = new Set<Socket>();
let server: Server;
let connection: Connection;
let client: Client;
let address: string;
let starter: Starter;
beforeAll(async () => {
  // As a stopped server does: the system accepts, and nobody answers.
  server = createServer((socket) => void sockets.add(socket.on("error", () => socket.destroy())));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const found = server.address();
  if (found === null || typeof found === "string") throw new Error("a TCP server has a port");
  address = `127.0.0.1:${found.port}`;
  connection = Connection.lazy({ address });
  client = new Client({ connection });
  starter = createStarter({ client });
});
afterAll(async () => {
  await connection.close();
  for (const socket of sockets) socket.destroy();
  server.close();
});

const KEY = { invoice: "INV-1" };

test.concurrent.each<[string, (starter: Starter) => Promise<unknown>]>([
  ["listAttention", (starter) => starter.listAttention().next()],
  ["getSale", (starter) => starter.getSale(KEY)],
  ["correction", (starter) => starter.correction(KEY)],
])("%s says within a till's patience that Temporal accepts connections, and does not answer", async (_name, ask) => {
  const startedAtMs = Date.now();
  const error: unknown = await ask(starter).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({
    code: "TemporalUnavailable",
    message: expect.stringContaining(`Temporal at ${address} cannot be reached: no answer within 10 s. `),
  });
  // The rest is for a busy machine.
  expect(Date.now() - startedAtMs).toBeLessThan(20_000);
});

test.concurrent("a call ends earlier by a signal of its caller, with Temporal's own error", async () => {
  const startedAtMs = Date.now();
  const ask = () => client.withAbortSignal(AbortSignal.timeout(500), () => starter.getSale(KEY));
  const error: unknown = await ask().catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ServiceError);
  expect(error).not.toHaveProperty("code", "TemporalUnavailable");
  expect(Date.now() - startedAtMs).toBeLessThan(8_000);
});
