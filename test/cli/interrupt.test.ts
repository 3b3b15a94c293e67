import { spawn } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:os";
import { fileURLToPath } from "node:url";
import { setTimeout as delay } from "node:timers/promises";
import { Client, Connection } from "@temporalio/client";
import { afterAll, beforeAll, expect, inject, onTestFinished, test, vi } from "vitest";

import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { namespaceOf } from "../rig/namespace.ts";
import { PATIENCE_MS } from "../rig/patience.ts";

const MAIN = fileURLToPath(new URL("../../dist/src/main.js", import.meta.url));

test("a command whose log nobody reads any more ends as it would have", async () => {
  const child = spawn(process.execPath, [MAIN, "worker"], { env: {}, stdio: ["ignore", "ignore", "pipe"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  child.stderr.destroy();
  // It lacks all settings.
  expect(await once(child, "exit")).toEqual([2, null]);
});

describeWithTemporal("a command that waits for a sale without a worker", () => {
  const namespace = namespaceOf(import.meta.filename);
  const address = inject("temporalAddress") ?? "";
  let connection: Connection;
  beforeAll(async () => {
    connection = await Connection.connect({ address });
  });
  afterAll(() => connection.close());

  test.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)(
    "ends at %s with %d, says so once, and shows no stack, though the signal comes twice",
    async (signal, exitCode) => {
      const child = spawn(process.execPath, [MAIN, "sale", "start", "-", "--wait", "--business", "biz_1"], {
        env: {
          PATH: process.env["PATH"],
          TEMPORAL_ADDRESS: address,
          TEMPORAL_NAMESPACE: namespace,
          COMPLIANCE_BASE_URL: "http://127.0.0.1:9",
          COMPLIANCE_API_KEY: "cmp_sk_test_of_nobody",
          COMPLIANCE_BUSINESS_ID: "biz_1",
        },
        stdio: ["pipe", "pipe", "pipe"],
      });
      onTestFinished(() => void child.kill("SIGKILL"));
      let output = "";
      for (const stream of [child.stdout, child.stderr])
        stream.on("data", (chunk: Buffer) => (output += String(chunk)));
      const invoice = `WAITING-${signal}`;
      const lines = [{ itemId: "item_delivery", quantity: 1, unitPrice: 200 }];
      child.stdin.end(JSON.stringify({ traderInvoiceNumber: invoice, lines }));
      const ended = once(child, "close");
      const sale = new Client({ connection, namespace }).workflow.getHandle(`sale/default/biz_1/${invoice}`);
      await vi.waitUntil(
        () =>
          sale.describe().then(
            () => true,
            () => false,
          ),
        { timeout: PATIENCE_MS },
      );
      child.kill(signal);
      // As a terminal and npm do, within milliseconds.
      await delay(2);
      child.kill(signal);
      const [code, killedBy] = await ended;
      // On a busy machine the second comes when the process has let go of its handlers: a shell reads the same code
      // then.
      expect(killedBy === signal ? 128 + constants.signals[signal] : code).toBe(exitCode);
      expect(output).toBe("Interrupted. What Temporal has accepted goes on.\n");
    },
  );
});
