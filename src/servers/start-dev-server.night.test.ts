import { mkdtemp, rm } from "node:fs/promises";
import { type Server, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, Connection } from "@temporalio/client";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { temporalCliOrSkipReason } from "../../test/rig/temporal-cli.ts";
import { type DevServer, type DevServerOptions, startDevServer } from "./start-dev-server.ts";

import { fakeMachine, versionScript } from "./test-support/fake-executables.ts";
import { isAlive } from "./test-support/process-state.ts";

const cli = await temporalCliOrSkipReason();

async function start(options: DevServerOptions = {}, path = cli.path): Promise<DevServer> {
  const server = await startDevServer({ ...options, env: { ...process.env, TEMPORAL_CLI_PATH: path } });
  onTestFinished(() => server.stop());
  return server;
}

async function clientOf(server: DevServer, namespace = "default"): Promise<Client> {
  const connection = await Connection.connect({ address: server.address });
  onTestFinished(() => connection.close());
  return new Client({ connection, namespace });
}

function listenOn(port: number): Promise<Server> {
  return new Promise((resolve) => {
    const server = createServer().listen(port, "127.0.0.1", () => resolve(server));
    onTestFinished(() => void server.close());
  });
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

describe.skipIf(cli.skipReason)("a started dev server", { timeout: 120_000 }, () => {
  let server: DevServer;
  beforeAll(async () => {
    server = await startDevServer({
      namespaces: ["default", "books"],
      uiPort: 0,
      searchAttributes: ["FiscalInvoice", "FiscalStage", "FiscalAttention"],
    });
  }, 120_000);
  afterAll(() => server.stop());

  it("has its namespaces, and search attributes that can be set and queried in each", async () => {
    for (const namespace of ["default", "books"]) {
      const client = await clientOf(server, namespace);
      await client.workflow.start("sale", {
        taskQueue: "nobody",
        workflowId: "sale/1",
        searchAttributes: { FiscalInvoice: ["INV-1"], FiscalStage: ["submitting"] },
      });
      await vi.waitFor(
        async () => {
          const { count } = await client.workflow.count('FiscalInvoice = "INV-1" and FiscalAttention is null');
          expect(count).toBe(1);
        },
        { timeout: 20_000, interval: 50 },
      );
    }
  });

  it("serves Temporal's UI where it says", async () => {
    const answer = await fetch(server.uiUrl ?? "");
    expect(answer.status).toBe(200);
    await expect(answer.text()).resolves.toContain("<html");
  });

  it("listens on loopback only", () => {
    expect(server.address).toMatch(/^127\.0\.0\.1:\d+$/);
    expect(server.uiUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  });
});

describe.skipIf(cli.skipReason)("starting and stopping", { timeout: 120_000 }, () => {
  it("leaves no process behind when it is stopped, and may be stopped twice", async () => {
    const server = await start();
    expect(server.uiUrl).toBeUndefined();
    expect(isAlive(server.pid)).toBe(true);
    await server.stop();
    expect(isAlive(-server.pid)).toBe(false);
    await server.stop();
  });

  it("ends at once when it is killed", async () => {
    const server = await start();
    server.kill();
    await vi.waitFor(() => expect(isAlive(-server.pid)).toBe(false), { timeout: 10_000, interval: 10 });
  });

  it("takes the given port", async () => {
    const holder = await listenOn(0);
    const port = portOf(holder);
    await new Promise((resolve) => holder.close(resolve));
    const server = await start({ port });
    expect(server.address).toBe(`127.0.0.1:${port}`);
  });

  it("refuses a port that is taken, even by another Temporal server, and says so", async () => {
    const first = await start();
    const port = Number(first.address.split(":")[1]);
    await expect(start({ port })).rejects.toThrow(`EADDRINUSE: address already in use 127.0.0.1:${port}`);
  });

  it("keeps workflows on the same database file", async () => {
    const folder = await mkdtemp(join(tmpdir(), "fiscalflow-db-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const dbFilename = join(folder, "temporal.db");
    const first = await start({ dbFilename });
    await (await clientOf(first)).workflow.start("sale", { taskQueue: "nobody", workflowId: "sale/kept" });
    await first.stop();
    const second = await start({ dbFilename });
    const kept = await (await clientOf(second)).workflow.getHandle("sale/kept").describe();
    expect(kept.status.name).toBe("RUNNING");
    expect(kept.type).toBe("sale");
  });

  it("keeps workflows when the server was killed", async () => {
    const folder = await mkdtemp(join(tmpdir(), "fiscalflow-db-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const dbFilename = join(folder, "temporal.db");
    const first = await start({ dbFilename });
    await (await clientOf(first)).workflow.start("sale", { taskQueue: "nobody", workflowId: "sale/kept" });
    first.kill();
    await first.stop();
    const second = await start({ dbFilename });
    const kept = await (await clientOf(second)).workflow.getHandle("sale/kept").describe();
    expect(kept.status.name).toBe("RUNNING");
  });

  it("shows what the server wrote when it does not start", async () => {
    await expect(start({ dbFilename: "/nowhere/at/all.db" })).rejects.toMatchObject({
      name: "ServerError",
      message: expect.stringMatching(/did not start: it ended with exit code 1[^]*Its last lines:[^]*nowhere/),
    });
  });

  it("tries again when another process took its port meanwhile", async () => {
    const machine = await fakeMachine();
    const refuseOnce = `if mkdir "${machine.folder}/refused"; then echo "listen tcp: bind: address already in use" >&2; exit 1; fi`;
    const cliThatRefusesOnce = await machine.script(
      "cli",
      `${versionScript()} && exit\n${refuseOnce}\nexec "${cli.path}" "$@"`,
    );
    const server = await start({}, cliThatRefusesOnce);
    expect(isAlive(server.pid)).toBe(true);
  });

  it("gives up on a server that never gets ready, and leaves nothing of it behind", async () => {
    const machine = await fakeMachine();
    const hanging = await machine.script("cli", `${versionScript()} && exit\necho "pid $$"\nsleep 1000 & wait`);
    const error: unknown = await start({ startTimeoutMs: 500 }, hanging).catch((reason: unknown) => reason);
    const message = error instanceof Error ? error.message : "";
    expect(message).toMatch(/did not start: it was not ready after 0\.5 s.*Failed to connect/);
    const group = -Number(/pid (\d+)/.exec(message)?.[1]);
    await vi.waitFor(() => expect(isAlive(group)).toBe(false), { timeout: 10_000, interval: 10 });
  });
});
