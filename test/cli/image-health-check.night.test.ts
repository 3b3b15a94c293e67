import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";

import { freePort } from "../../src/servers/start-dev-server.ts";
import { CommandProcess } from "../rig/command-process.ts";

const CHECK = resolve(import.meta.dirname, "../../deploy/healthcheck.mjs");
/** Called by none of these processes. */
const SERVICE = {
  COMPLIANCE_BASE_URL: "http://127.0.0.1:9",
  COMPLIANCE_API_KEY: "cmp_sk_test_nobody",
  COMPLIANCE_BUSINESS_ID: "biz_1",
};
const running: CommandProcess[] = [];

afterEach(async () => {
  for (const { child } of running.splice(0)) if (child.exitCode === null && child.kill()) await once(child, "exit");
});

function start(command: string, env: Record<string, string>): CommandProcess {
  const started = new CommandProcess(command, { ...SERVICE, ...env });
  running.push(started);
  return started;
}

/** The status with which the image's health check ends, as Docker runs it: in the environment of the container. */
function healthOf(pid: number | undefined, env: Record<string, string> = {}): number | null {
  return spawnSync(process.execPath, [CHECK, String(pid)], { env, encoding: "utf8" }).status;
}

// It reads the command of the container's first process in /proc.
describe.skipIf(process.platform !== "linux")("the image's health check", () => {
  test("asks the callback receiver on its port", async () => {
    const port = await freePort();
    const receiver = start("callbacks", {
      TEMPORAL_ADDRESS: "127.0.0.1:9",
      CALLBACK_PUBLIC_URL: "https://callbacks.example.com",
      CALLBACK_SECRETS: "a callback secret that is long enough",
      CALLBACK_PORT: String(port),
    });
    const { pid } = receiver.child;
    await receiver.said("receiving");
    // One `.env` serves all processes, so a receiver has the worker's port too.
    expect(healthOf(pid, { CALLBACK_PORT: String(port), HEALTH_PORT: "8081" })).toBe(0);
    expect(healthOf(pid, { CALLBACK_PORT: String(await freePort()) })).toBe(1);
  });

  test("asks on the port of the configuration file, where no variable has one", async () => {
    const port = await freePort();
    const file = join(await mkdtemp(join(tmpdir(), "fiscalflow-health-")), "fiscalflow.jsonc");
    onTestFinished(() => rm(dirname(file), { recursive: true }));
    const receiver = { publicUrl: "https://callbacks.example.com", secrets: [{ env: "SHOP_CALLBACK_SECRET" }], port };
    await writeFile(file, `{ "callbacks": ${JSON.stringify(receiver)}, /* of this host */ "healthPort": ${port}, }`);
    const started = start("callbacks", {
      TEMPORAL_ADDRESS: "127.0.0.1:9",
      SHOP_CALLBACK_SECRET: "a callback secret that is long enough",
      FISCALFLOW_CONFIG: file,
    });
    const { pid } = started.child;
    await started.said("receiving");
    expect(healthOf(pid, { FISCALFLOW_CONFIG: file })).toBe(0);
    expect(healthOf(pid, { FISCALFLOW_CONFIG: file, CALLBACK_PORT: String(await freePort()) })).toBe(1);
    // Of a file that cannot be read the process itself says so, and ends.
    expect(healthOf(pid, { FISCALFLOW_CONFIG: `${file}.none`, CALLBACK_PORT: String(port) })).toBe(0);
  });

  test("asks the codec server on its port", async () => {
    const port = await freePort();
    const server = start("codec", {
      FISCALFLOW_PAYLOAD_KEYS: `2026:${Buffer.alloc(32, 7).toString("base64")}`,
      FISCALFLOW_CODEC_TOKEN: "a-token-of-the-codec-that-is-long-enough",
      FISCALFLOW_CODEC_PORT: String(port),
    });
    const { pid } = server.child;
    await server.said("serving the codec");
    expect(healthOf(pid, { FISCALFLOW_CODEC_PORT: String(port) })).toBe(0);
    expect(healthOf(pid, { FISCALFLOW_CODEC_PORT: String(await freePort()) })).toBe(1);
  });

  test("asks a worker on its port, which is alive while it waits for Temporal", async () => {
    const silent = createServer().listen(0, "127.0.0.1");
    await once(silent, "listening");
    const port = await freePort();
    const worker = start("worker", {
      TEMPORAL_ADDRESS: `127.0.0.1:${(silent.address() as AddressInfo).port}`,
      HEALTH_PORT: String(port),
    });
    const { pid } = worker.child;
    // The worker has been called, so it listens on its own port already.
    const [socket] = (await once(silent, "connection")) as [{ destroy(): void }];
    expect(healthOf(pid, { HEALTH_PORT: String(port) })).toBe(0);
    expect(healthOf(pid, { HEALTH_PORT: String(await freePort()) })).toBe(1);
    expect(healthOf(pid)).toBe(0);
    socket.destroy();
    silent.close();
  });

  test("takes any other command for alive", () => {
    expect(healthOf(process.pid, { HEALTH_PORT: "9", CALLBACK_PORT: "9" })).toBe(0);
  });
});
