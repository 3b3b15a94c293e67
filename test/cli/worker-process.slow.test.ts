import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { once } from "node:events";
import { afterAll, beforeAll, expect, inject, test } from "vitest";

import { freePort } from "../../src/servers/start-dev-server.ts";
import { createCallbackToken } from "../../src/callbacks/index.ts";
import { type Simulator, startSimulator } from "../../src/dev/simulator/index.ts";
import { callCli, type CliResult } from "../../src/cli/test-support/call-cli.ts";
import { CommandProcess, MAIN } from "../rig/command-process.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { freshDatabase } from "../rig/fresh-database.ts";
import { namespaceOf } from "../rig/namespace.ts";

const SECRET = "a secret of the tests that is long enough to be one";

/**
 * The suites' server carries out no Schedules, and so never answers about the note of the ledger: a worker tells once that
 * it cannot be held against it, and that its looks at the ledger wait for it while it starts.
 */
const OF_NO_SCHEDULES =
  /^the ledger cannot be held against|cannot be (looked up|counted) now; it is tried again each minute$/;
/** Of the product: Temporal's own SDK warns of a slow machine. */
const isWarning = ({ level, msg, sdkComponent }: Record<string, unknown>): boolean =>
  level === "warn" && sdkComponent !== "core" && !OF_NO_SCHEDULES.test(String(msg));

describeWithTemporal("a worker or callback receiver process", () => {
  let simulator: Simulator;
  let env: Record<string, string>;
  const running: CommandProcess[] = [];
  const folders: string[] = [];
  beforeAll(async () => {
    if (!existsSync(MAIN)) throw new Error("this suite runs what is built: run `npm run build` first");
    simulator = await startSimulator();
    env = {
      TEMPORAL_ADDRESS: inject("temporalAddress") ?? "",
      TEMPORAL_NAMESPACE: namespaceOf(import.meta.filename),
      COMPLIANCE_BASE_URL: simulator.url,
      COMPLIANCE_API_KEY: "cmp_sk_test_simulator",
      COMPLIANCE_BUSINESS_ID: "biz_1",
      // The ledger of an earlier run would know the sales of this one as finished.
      LEDGER_URL: await freshDatabase(inject("ledgerServerUrl")),
    };
  });
  afterAll(async () => {
    for (const { child } of running) if (child.exitCode === null) child.kill("SIGKILL");
    for (const folder of folders) await rm(folder, { recursive: true, force: true });
    await simulator.close();
  });

  function start(name: string, more: Record<string, string> = {}): CommandProcess {
    const command = new CommandProcess(name, { ...env, ...more });
    running.push(command);
    return command;
  }

  function sale(argv: string[], input?: object): Promise<CliResult> {
    return callCli(["sale", ...argv], { env, ...(input && { stdin: JSON.stringify(input) }) });
  }

  test("the worker logs what it serves and never a secret, and serves its health", async () => {
    const [healthPort, metricsPort] = [await freePort(), await freePort()];
    const worker = start("worker", { HEALTH_PORT: String(healthPort), METRICS_PORT: String(metricsPort) });
    const serving = await worker.said("serving");
    expect(serving).toMatchObject({
      namespace: env["TEMPORAL_NAMESPACE"],
      taskQueues: ["fiscalflow", "fiscalflow.compliance.default", "fiscalflow.compliance.default.background"],
      connections: [{ name: "default", environment: "test", application: "default", businessId: "biz_1" }],
      callbacks: expect.stringContaining("off"),
    });
    const get = async (port: number, path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).status;
    expect(await get(healthPort, "/healthz")).toBe(200);
    await expect.poll(() => get(healthPort, "/readyz")).toBe(200);
    expect(await get(healthPort, "/nothing")).toBe(404);
    const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    expect(metrics).toContain("temporal_");
    expect(await worker.end("SIGTERM")).toBe(0);
    expect(worker.lines.at(-1)).toMatchObject({ msg: "stopped" });
    expect(JSON.stringify(worker.lines)).not.toContain("cmp_sk_test_simulator");
  });

  test("the worker warns once of a key that is refused, and shows it to Prometheus until it works again", async () => {
    const metricsPort = await freePort();
    const worker = start("worker", { METRICS_PORT: String(metricsPort) });
    const gauge = async () => {
      const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
      return metrics.split("\n").filter((line) => line.startsWith("fiscalflow_key_refused{"));
    };
    await worker.said("serving");
    simulator.setApplication("simulator", { suspended: true });
    const lines = [{ itemId: "item_delivery", quantity: 1, unitPrice: 200 }];
    // The worker's own look at the start may be refused first: the sale has to be parked before it is retried.
    const parked = await sale(["start", "-", "--wait"], { traderInvoiceNumber: "KEY-1", lines });
    expect(parked.stdout).toContain("credentials");
    const refused = "the API refuses the key: what needs it parks as credentials";
    expect(await worker.said(refused)).toMatchObject({
      level: "warn",
      connection: "default",
      status: 401,
      apiCode: "invalid_api_key",
    });
    expect(await gauge()).toMatchObject([expect.stringMatching(/connection="default".*status="401".* 1$/)]);
    simulator.setApplication("simulator", { suspended: false });
    await sale(["retry", "KEY-1"]);
    expect(await worker.said("the API accepts the key again")).toMatchObject({ level: "info", status: 401 });
    expect(await gauge()).toMatchObject([expect.stringMatching(/ 0$/)]);
    expect(await worker.end("SIGTERM")).toBe(0);
    expect(worker.lines.filter(({ msg }) => msg === refused)).toHaveLength(1);
    expect(JSON.stringify(worker.lines)).not.toContain("cmp_sk_test_simulator");
  });

  test("SIGTERM lets a call under way be answered before the worker ends", async () => {
    const worker = start("worker");
    await worker.said("serving");
    simulator.inject({ operation: "createSale", when: "after", kind: "slow", delayMs: 1_500, times: 1 });
    const lines = [{ itemId: "item_delivery", quantity: 1, unitPrice: 200 }];
    expect(await sale(["start", "-"], { traderInvoiceNumber: "SLOW-1", lines })).toMatchObject({ exitCode: 0 });
    await simulator.until(() => simulator.documents("SLOW-1").length === 1);
    expect(await worker.end("SIGTERM")).toBe(0);
    simulator.resetCalls();
    const next = start("worker");
    await next.said("serving");
    const { stdout } = await sale(["start", "-", "--wait"], { traderInvoiceNumber: "SLOW-1", lines });
    expect(stdout).toContain("completed");
    // The answer was not lost: nobody had to ask for the document again.
    expect(simulator.calls({ operation: "createSale" })).toEqual([]);
    expect(await next.end("SIGTERM")).toBe(0);
  });

  test("a second signal ends the worker at once", async () => {
    const worker = start("worker");
    await worker.said("serving");
    simulator.inject({ operation: "createSale", when: "after", kind: "slow", delayMs: 20_000, times: 1 });
    const lines = [{ itemId: "item_delivery", quantity: 1, unitPrice: 200 }];
    await sale(["start", "-"], { traderInvoiceNumber: "SLOW-2", lines });
    await simulator.until(() => simulator.documents("SLOW-2").length === 1);
    worker.child.kill("SIGTERM");
    await worker.said("stopping: no new work is taken, calls under way are finished; a second signal ends at once");
    // Within half a second it would be taken for the same one.
    await delay(600);
    expect(await worker.end("SIGTERM")).toBe(143);
  });

  test("the callback receiver signals, reports ready, and drains", async () => {
    const port = await freePort();
    const callbacks = start("callbacks", {
      CALLBACK_PUBLIC_URL: "https://callbacks.example.com",
      CALLBACK_SECRETS: SECRET,
      CALLBACK_PORT: String(port),
    });
    expect(await callbacks.said("receiving")).toMatchObject({ publicHost: "callbacks.example.com", secrets: 1 });
    const token = createCallbackToken({ workflowId: "sale/default/biz_1/NEVER-WAS" }, SECRET);
    const post = (path: string) => fetch(`http://127.0.0.1:${port}${path}`, { method: "POST", body: "{}" });
    expect((await post(`/callbacks/${token}`)).status).toBe(202);
    expect((await post("/callbacks/nonsense")).status).toBe(404);
    expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200);
    expect(await callbacks.end("SIGTERM")).toBe(0);
    expect(JSON.stringify(callbacks.lines)).not.toContain(SECRET);
  });

  test("the codec server decodes for a caller who has its token, and logs nothing of it", async () => {
    const keys = `2026:${Buffer.alloc(32, 6).toString("base64")}`;
    const token = SECRET.replaceAll(" ", "-");
    const port = await freePort();
    const codec = start("codec", {
      FISCALFLOW_PAYLOAD_KEYS: keys,
      FISCALFLOW_CODEC_TOKEN: token,
      FISCALFLOW_CODEC_PORT: String(port),
    });
    expect(await codec.said("serving the codec")).toMatchObject({
      url: `http://127.0.0.1:${port}`,
      origins: [],
      keys: 1,
    });
    const payloads = [{ metadata: { encoding: "anNvbi9wbGFpbg==" }, data: "Ik5qZXJpIg==" }];
    const ask = async (path: string, body: object, given: string) => {
      const headers = { authorization: `Bearer ${given}`, "content-type": "application/json" };
      return await fetch(`http://127.0.0.1:${port}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    };
    const encoded = (await (await ask("/encode", { payloads }, token)).json()) as object;
    expect(JSON.stringify(encoded)).not.toContain("Ik5qZXJpIg==");
    expect(await (await ask("/decode", encoded, token)).json()).toEqual({ payloads });
    expect((await ask("/decode", encoded, SECRET)).status).toBe(401);
    expect(await codec.end("SIGTERM")).toBe(0);
    for (const secret of [token, keys, "Njeri"]) expect(JSON.stringify(codec.lines)).not.toContain(secret);
  });

  /** A configuration file with this content, and files beside it. */
  async function folderWith(
    files: Record<string, string>,
  ): Promise<{ config: string; write: (name: string, text: string) => Promise<void> }> {
    const folder = await mkdtemp(join(tmpdir(), "fiscalflow-process-"));
    folders.push(folder);
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
    const write = (name: string, text: string) => writeFile(join(folder, name), text);
    return { config: join(folder, "fiscalflow.json"), write };
  }

  test("the worker warns once of a key's file that it cannot use, keeps the key, and takes the next one up", async () => {
    const { config, write } = await folderWith({
      key: "cmp_sk_test_simulator\n",
      "fiscalflow.json": '{ "compliance": { "default": { "apiKey": { "file": "key" } } } }',
    });
    const metricsPort = await freePort();
    const ofFile = { COMPLIANCE_API_KEY: "", FISCALFLOW_CONFIG: config };
    const worker = start("worker", { METRICS_PORT: String(metricsPort), ...ofFile });
    const gauge = async () => {
      const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
      return metrics.split("\n").filter((line) => line.startsWith("fiscalflow_secret_file_refused{"));
    };
    await worker.said("serving");
    await write("key", "nothing that anybody may see");
    expect(await worker.said("the file of a secret cannot be used: the value of before stays in use")).toMatchObject({
      level: "warn",
      secret: "compliance.default.apiKey",
      file: join(dirname(config), "key"),
      why: expect.stringContaining("expected a key of the tax-compliance API"),
    });
    expect(await gauge()).toMatchObject([expect.stringMatching(/secret="compliance.default.apiKey".* 1$/)]);
    const lines = [{ itemId: "item_delivery", quantity: 1, unitPrice: 200 }];
    const sold = await sale(["start", "-", "--wait"], { traderInvoiceNumber: "FILE-1", lines });
    expect(sold.stdout).toContain("completed");

    simulator.setKey("cmp_sk_test_rotated", { application: "simulator" });
    await write("key", "cmp_sk_test_rotated\n");
    expect(await worker.said("the file of a secret can be used again")).toMatchObject({ level: "info" });
    expect(await gauge()).toMatchObject([expect.stringMatching(/ 0$/)]);
    simulator.setKey("cmp_sk_test_simulator", { revoked: true });
    const after = await sale(["start", "-", "--wait"], { traderInvoiceNumber: "FILE-2", lines });
    simulator.setKey("cmp_sk_test_simulator", { revoked: false });
    expect(after.stdout).toContain("completed");
    expect(await worker.end("SIGTERM")).toBe(0);
    expect(worker.lines.filter(isWarning)).toHaveLength(1);
    expect(JSON.stringify(worker.lines)).not.toMatch(/cmp_sk_test_(simulator|rotated)|nothing that anybody/);
  });

  test("the callback receiver takes a secret up from its file at once, and forgets the one that it replaces", async () => {
    const { config, write } = await folderWith({
      current: SECRET,
      previous: `${SECRET} of the year before`,
      "fiscalflow.json":
        '{ "callbacks": { "publicUrl": "https://callbacks.example.com", "secrets": [{ "file": "current" }, { "file": "previous" }] } }',
    });
    const port = await freePort();
    const callbacks = start("callbacks", { FISCALFLOW_CONFIG: config, CALLBACK_PORT: String(port) });
    await callbacks.said("receiving");
    const post = async (secret: string): Promise<number> => {
      const token = createCallbackToken({ workflowId: "sale/default/biz_1/NEVER-WAS" }, secret);
      return (await fetch(`http://127.0.0.1:${port}/callbacks/${token}`, { method: "POST", body: "{}" })).status;
    };
    expect(await post(SECRET)).toBe(202);
    expect(await post(`${SECRET} of the year before`)).toBe(202);
    await write("previous", SECRET);
    await write("current", `${SECRET} of next year`);
    // A worker that has read the files earlier signs with the new secret already.
    expect(await post(`${SECRET} of next year`)).toBe(202);
    expect(await post(SECRET)).toBe(202);
    expect(await post(`${SECRET} of the year before`)).toBe(404);
    expect(await callbacks.end("SIGTERM")).toBe(0);
    // Of the secret that was replaced.
    const refused = { callback: { "unknown-token": 1 } };
    expect(callbacks.lines.filter(({ level }) => level === "warn")).toMatchObject([{ refused }]);
    expect(JSON.stringify(callbacks.lines)).not.toContain(SECRET);
  });

  test("the callback receiver listens where CALLBACK_HOST says, and serves metrics on a port of their own", async () => {
    const [port, metricsPort] = [await freePort(), await freePort()];
    const callbacks = start("callbacks", {
      CALLBACK_PUBLIC_URL: "https://callbacks.example.com",
      CALLBACK_SECRETS: SECRET,
      CALLBACK_PORT: String(port),
      CALLBACK_HOST: "::1",
      METRICS_PORT: String(metricsPort),
    });
    expect(await callbacks.said("receiving")).toMatchObject({ url: `http://[::1]:${port}`, metricsPort });
    const token = createCallbackToken({ workflowId: "sale/default/biz_1/NEVER-WAS" }, SECRET);
    const post = (path: string) => fetch(`http://[::1]:${port}${path}`, { method: "POST", body: "{}" });
    expect((await post(`/callbacks/${token}`)).status).toBe(202);
    expect((await post("/callbacks/nonsense")).status).toBe(404);
    expect((await fetch(`http://[::1]:${port}/metrics`)).status).toBe(404);
    await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow("fetch failed");
    const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    const lines = metrics.split("\n");
    const sample = (name: string) => lines.filter((line) => line.startsWith(`fiscalflow_receiver_${name}{`));
    expect(sample("accepted_total")).toEqual([expect.stringMatching(/kind="callback".* 1$/)]);
    expect(sample("refused_total").toSorted()).toEqual([
      expect.stringMatching(/kind="callback".*reason="unknown-token".* 1$/),
      expect.stringMatching(/kind="other".*reason="unknown-address".* 1$/),
    ]);
    expect(sample("signals_total")).toEqual([expect.stringMatching(/kind="callback".*outcome="gone".* 1$/)]);
    expect(sample("duration_seconds_count").toSorted()).toEqual([
      expect.stringMatching(/answer="accepted".*kind="callback".* 1$/),
      expect.stringMatching(/answer="refused".*kind="callback".* 1$/),
    ]);
    expect(sample("duration_seconds_bucket").join()).toContain('le="0.05"');
    expect(await callbacks.end("SIGTERM")).toBe(0);
  });

  test("an address for callbacks that this machine does not have ends the receiver with 1 and one message", async () => {
    const callbacks = start("callbacks", {
      CALLBACK_PUBLIC_URL: "https://callbacks.example.com",
      CALLBACK_SECRETS: SECRET,
      CALLBACK_HOST: "192.0.2.1",
    });
    const [code] = (await once(callbacks.child, "exit")) as [number];
    expect(code).toBe(1);
    expect(callbacks.lines).toEqual([{ msg: expect.stringContaining("CALLBACK_HOST 192.0.2.1 is not an address") }]);
  });

  test("the callback receiver runs while Temporal is away, and answers 503 so that senders try again", async () => {
    const port = await freePort();
    const callbacks = start("callbacks", {
      TEMPORAL_ADDRESS: "127.0.0.1:9",
      CALLBACK_PUBLIC_URL: "https://callbacks.example.com",
      CALLBACK_SECRETS: SECRET,
      CALLBACK_PORT: String(port),
    });
    const away = await callbacks.said("Temporal cannot be used: callbacks are answered 503 until it can");
    expect(away).toMatchObject({ level: "warn", why: expect.stringContaining("127.0.0.1:9 cannot be reached") });
    expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200);
    expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(503);
    expect(await callbacks.end("SIGTERM")).toBe(0);
  });

  test("a metrics port that is taken ends the worker with 1 and one message", async () => {
    const port = new URL(simulator.url).port;
    const worker = start("worker", { METRICS_PORT: port });
    const [code] = (await once(worker.child, "exit")) as [number];
    expect(code).toBe(1);
    expect(worker.lines).toEqual([{ msg: `METRICS_PORT ${port} cannot be used (EADDRINUSE). Choose another port.` }]);
  });

  test("a metrics address that this machine does not have ends the worker with 1 and one message", async () => {
    const worker = start("worker", { METRICS_PORT: "0", MONITORING_HOST: "192.0.2.1" });
    const [code] = (await once(worker.child, "exit")) as [number];
    expect(code).toBe(1);
    expect(worker.lines).toEqual([{ msg: expect.stringContaining("MONITORING_HOST 192.0.2.1 is not an address") }]);
  });
});
