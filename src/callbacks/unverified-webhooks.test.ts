import { createHmac } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterEach, expect, test } from "vitest";

import { createCallbackReceiver } from "./receiver.ts";
import { PLAIN_WEBHOOK } from "./test-support/plain-webhook.ts";
import { createCallbackToken } from "./callback-token.ts";

const WEBHOOK_SECRET = "whsec_development_a";
const SECRET = "a secret of the callbacks that is long enough";

const open: { close: () => unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one.close();
});

async function receiving() {
  const app = createCallbackReceiver({
    secrets: [SECRET],
    webhooks: new Map([["default", { secrets: [WEBHOOK_SECRET], shape: PLAIN_WEBHOOK }]]),
    maxInFlight: 1,
    client: {
      requestSync: () => Promise.resolve("delivered"),
      signalCallback: () => Promise.resolve("delivered"),
      workersBehindMs: () => Promise.resolve(0),
      isReachable: () => Promise.resolve(true),
    },
    log: { debug() {}, warn() {} },
  });
  open.push(app);
  const arrived: { seen: () => void; left: number } = { seen: () => undefined, left: 0 };
  app.addHook("onRequest", (_request, _reply, done) => {
    arrived.left -= 1;
    if (arrived.left === 0) arrived.seen();
    done();
  });
  await app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  return {
    /** Webhooks that anyone may send, whose bodies never come; resolves when they are being read. */
    stall: async (count: number): Promise<Socket[]> => {
      arrived.left = count;
      const seen = new Promise<void>((resolve) => (arrived.seen = resolve));
      const sockets = Array.from({ length: count }, () => connect(port, "127.0.0.1"));
      for (const socket of sockets) {
        open.push({ close: () => socket.destroy() });
        await once(socket, "connect");
        socket.write("POST /webhooks/accounting/default HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n{");
      }
      await seen;
      return sockets;
    },
    callback: async () =>
      (await fetch(`${url}/callbacks/${createCallbackToken({ workflowId: "sale/default/biz_1/INV-1" }, SECRET)}`))
        .status,
    webhook: async () => {
      const headers = { "x-signature": createHmac("sha256", WEBHOOK_SECRET).update("{}").digest("hex") };
      return (await fetch(`${url}/webhooks/accounting/default`, { method: "POST", headers, body: "{}" })).status;
    },
  };
}

test("webhooks whose bodies never come keep out neither callbacks nor other webhooks", async () => {
  const { stall, callback, webhook } = await receiving();
  const sockets = await stall(60);
  expect(await callback()).toBe(202);
  expect(await webhook()).toBe(202);
  for (const socket of sockets) socket.destroy();
  expect(await webhook()).toBe(202);
});
