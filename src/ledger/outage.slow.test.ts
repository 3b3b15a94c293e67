import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { listenerOf, throughPort } from "../../test/rig/fresh-database.ts";
import { startEmbeddedPostgres } from "../servers/test-support/start-embedded-postgres.ts";
import { type Ledger, LedgerUnavailableError, openLedger } from "./index.ts";
import { makeHome } from "./test-support/home-of-run.ts";
import { firstTry } from "./test-support/movements.ts";
import { gone, serverPid } from "./test-support/server-process.ts";

let home: string;
let base: string;
let server: { url: string; close(): Promise<void> } | undefined;
beforeAll(async () => {
  home = makeHome();
  base = join(home, "postgres");
  server = await startEmbeddedPostgres({ home });
});
afterAll(async () => {
  await server?.close();
  await rm(home, { recursive: true, force: true });
});

function open(options: Parameters<typeof openLedger>[0]): Ledger {
  const ledger = openLedger(options);
  onTestFinished(() => ledger.close());
  return ledger;
}

/** How long it took to say that nothing can be said, in milliseconds. */
async function msUntilUnavailable(work: Promise<unknown>): Promise<number> {
  const start = performance.now();
  const error: unknown = await work.then(
    () => new Error("it answered"),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(LedgerUnavailableError);
  return performance.now() - start;
}

const BOUND_MS = 4_500;

/** One that was asked to stop takes the file of its process id with it. */
function anotherServes(pid: number): boolean {
  try {
    return serverPid(base) !== pid;
  } catch {
    return false;
  }
}

describe("a ledger whose server is killed", { timeout: 60_000 }, () => {
  it("in the middle of 200 takes keeps every take that it acknowledged", async () => {
    const ledger = open({ home, operationTimeoutMs: 20_000 });
    await ledger.ready();
    const requests = Array.from({ length: 200 }, firstTry);
    const pid = serverPid(base);
    let done = 0;
    const answers = await Promise.allSettled(
      requests.map(async (request) => {
        const answer = await ledger.stock.take(request);
        done += 1;
        if (done === 60) process.kill(pid, "SIGKILL");
        return answer;
      }),
    );
    expect(done).toBeGreaterThanOrEqual(60);
    await ledger.ready();
    expect(serverPid(base)).not.toBe(pid);
    const kept = await Promise.all(requests.map((request) => ledger.stock.read(request)));
    const lost = answers.filter((answer, index) => answer.status === "fulfilled" && kept[index]?.kind !== "unknown");
    expect(lost).toEqual([]);
    // Nobody else takes them, so the same tokens still may.
    expect(await ledger.stock.take(requests[0] ?? firstTry())).toEqual({ kind: "taken" });
  });

  it("has a new server within one operation, also after a server that was asked to stop", async () => {
    const ledger = open({ home, operationTimeoutMs: 20_000 });
    for (const signal of ["SIGKILL", "SIGINT", "SIGQUIT"] as const) {
      expect(await ledger.stock.take(firstTry())).toEqual({ kind: "taken" });
      const pid = serverPid(base);
      process.kill(pid, signal);
      expect(await ledger.stock.take(firstTry())).toEqual({ kind: "taken" });
      await gone(pid);
      // One that was asked to stop may have answered before it did, and its processes may answer for a moment after it.
      while (!anotherServes(pid)) expect(await ledger.stock.take(firstTry())).toEqual({ kind: "taken" });
    }
  });
});

describe("a ledger on a server", { timeout: 60_000 }, () => {
  it("says within the time of an operation that it is away, and works when it is back", async () => {
    if (server === undefined) throw new Error("no server");
    const ledger = open({ url: server.url, home: "/nowhere" });
    const first = firstTry();
    expect(await ledger.stock.take(first)).toEqual({ kind: "taken" });
    await server.close();
    const work = [ledger.stock.take(first), ledger.documents.contradicted(1), ledger.ready()];
    const longestMs = Math.max(...(await Promise.all(work.map(msUntilUnavailable))));
    expect(longestMs).toBeLessThan(BOUND_MS);
    server = await startEmbeddedPostgres({ home });
    expect(await ledger.stock.take(first)).toEqual({ kind: "taken" });
  });

  it.runIf(process.platform === "linux")(
    "says so when its server hangs, and works when the server goes on",
    async () => {
      if (server === undefined) throw new Error("no server");
      const ledger = open({ url: server.url, home: "/nowhere", operationTimeoutMs: 1_000 });
      const first = firstTry();
      await ledger.stock.take(first);
      const backends = stopBackends();
      try {
        expect(await msUntilUnavailable(ledger.stock.take(first))).toBeLessThan(2_500);
      } finally {
        for (const pid of backends) process.kill(pid, "SIGCONT");
      }
      expect(await ledger.stock.take(first)).toEqual({ kind: "taken" });
    },
  );

  it("says so when its server was never there, and connects to it later", async () => {
    if (server === undefined) throw new Error("no server");
    const sockets = new Set<Socket>();
    const hole = createServer((socket) => void sockets.add(socket.on("error", () => undefined)));
    await new Promise<void>((resolve) => hole.listen(0, "127.0.0.1", resolve));
    const address = hole.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const silent = open({ url: `postgresql://a:secret-1@127.0.0.1:${port}/x`, home: "/nowhere" });
    expect(await msUntilUnavailable(silent.stock.read(firstTry()))).toBeLessThan(BOUND_MS);
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => hole.close(resolve));
    const refused = silent.stock.read(firstTry());
    await expect(refused).rejects.toThrow(/127\.0\.0\.1/);
    await expect(refused).rejects.not.toThrow(/secret-1/);
  });

  it("connects anew to a server that took its first connection, and said nothing", async () => {
    if (server === undefined) throw new Error("no server");
    const { url } = server;
    let isSilent = true;
    const line = createServer((near) => {
      near.on("error", () => undefined);
      if (isSilent) return;
      const far = connect(listenerOf(url)).on("error", () => undefined);
      near.pipe(far).pipe(near);
    });
    await new Promise<void>((resolve) => line.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void line.close());
    const address = line.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const ledger = open({ url: throughPort(url, port), home: "/nowhere", operationTimeoutMs: 500 });
    await msUntilUnavailable(ledger.stock.read(firstTry()));
    isSilent = false;
    const read = (): Promise<string> => ledger.stock.read(firstTry()).then(({ kind }) => kind);
    await expect.poll(read, { timeout: 10_000 }).toBe("none");
  });

  it("says what is wrong with a password or a database, without waiting", async () => {
    if (server === undefined) throw new Error("no server");
    const wrong = new URL(server.url);
    wrong.password = "wrong";
    const missing = new URL(server.url);
    missing.pathname = `/missing_${randomUUID().slice(0, 8)}`;
    for (const url of [wrong, missing]) {
      const ledger = open({ url: url.href, home: "/nowhere", operationTimeoutMs: 30_000 });
      expect(await msUntilUnavailable(ledger.stock.read(firstTry()))).toBeLessThan(10_000);
    }
  });
});

it("a ledger that was closed does not answer", async () => {
  const ledger = openLedger({ home });
  await ledger.stock.take(firstTry());
  await ledger.close();
  await ledger.close();
  await expect(ledger.stock.take(firstTry())).rejects.toThrow(LedgerUnavailableError);
});

/** Stops every process that serves a connection, and the one that would make more. */
function stopBackends(): number[] {
  const postmaster = serverPid(base);
  const children = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return Number(readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ")[1]) === postmaster;
      } catch {
        return false;
      }
    });
  const all = [postmaster, ...children];
  for (const pid of all) process.kill(pid, "SIGSTOP");
  return all;
}
