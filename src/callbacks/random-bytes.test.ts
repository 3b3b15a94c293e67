import { connect } from "node:net";
import type { AddressInfo } from "node:net";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";

import { createCallbackReceiver } from "./receiver.ts";
import { createCallbackToken } from "./callback-token.ts";

const SECRET = "a-secret-of-this-year-of-at-least-32";
const TOKEN = createCallbackToken({ workflowId: "sale/default/biz_1/INV-1001" }, SECRET);

const genuine = Buffer.from(
  `POST /callbacks/${TOKEN} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 26\r\nConnection: close\r\n\r\n{"event":"sale.completed"}`,
);

/** A genuine callback in which some bytes are others, or are missing, or that breaks off. */
const spoiled = fc
  .tuple(fc.array(fc.tuple(fc.nat(genuine.length - 1), fc.nat(255)), { maxLength: 4 }), fc.nat(genuine.length))
  .map(([changes, end]) => {
    const bytes = Buffer.from(genuine);
    for (const [at, byte] of changes) bytes[at] = byte;
    return end % 3 === 0 ? bytes.subarray(0, end) : bytes;
  });
const bytes = fc.oneof(
  { weight: 5, arbitrary: spoiled },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 400 }).map((array) => Buffer.from(array)) },
);

/** Sends bytes as they are, ends, and resolves with all that came back. */
function exchange(port: number, sent: Buffer): Promise<string> {
  return new Promise((resolve) => {
    let answer = "";
    const socket = connect(port, "127.0.0.1", () => socket.end(sent));
    socket.setEncoding("latin1").on("data", (part: string) => (answer += part));
    // A reset is an end as well.
    socket.on("error", () => undefined).on("close", () => resolve(answer));
  });
}

test("the callback receiver answers random bytes with one of its few answers, and goes on serving", async () => {
  const signals: string[] = [];
  let accepted = 0;
  const app = createCallbackReceiver({
    secrets: [SECRET],
    client: {
      signalCallback: (workflowId) => {
        signals.push(workflowId);
        return Promise.resolve("delivered");
      },
      requestSync: () => Promise.resolve("delivered"),
      workersBehindMs: () => Promise.resolve(0),
      isReachable: () => Promise.resolve(true),
    },
    log: { debug: () => undefined, warn: () => undefined },
    timeouts: { headersMs: 300, requestMs: 500, checkEveryMs: 50 },
  });
  onTestFinished(() => app.close());
  await app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = app.server.address() as AddressInfo;
  await fc.assert(
    fc.asyncProperty(fc.array(bytes, { minLength: 10, maxLength: 10 }), async (ten) => {
      for (const answer of await Promise.all(ten.map((sent) => exchange(port, sent)))) {
        const [head = "", ...rest] = answer.split("\r\n\r\n");
        if (head.includes(" 202 ")) accepted += 1;
        expect(head).toMatch(/^$|^HTTP\/1\.1 (100|202|400|404|405|408|413|417|431|503) /);
        // Node ends an empty answer of its own (no Host) with an empty chunk.
        expect(rest.join("").replace(/HTTP\/1\.1 [^]*/, "")).toMatch(/^(0)?$/);
      }
    }),
    { numRuns: 200, timeout: 10_000 },
  );
  expect(accepted).toBeGreaterThan(10);
  expect(new Set(signals)).toEqual(new Set(["sale/default/biz_1/INV-1001"]));
  expect(await exchange(port, genuine)).toMatch(/^HTTP\/1\.1 202 /);
}, 60_000);
