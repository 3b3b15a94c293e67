import { appendFileSync, rmSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { makeHome } from "../ledger/test-support/home-of-run.ts";
import { gone, serverPid } from "../ledger/test-support/server-process.ts";
import { createEmbeddedServer, type EmbeddedServer } from "./postgres-server.ts";

function serverOf(home: string): EmbeddedServer {
  const server = createEmbeddedServer({ home });
  onTestFinished(() => server.close());
  return server;
}

describe("an embedded PostgreSQL server", { timeout: 60_000 }, () => {
  it("is started again, and ends with its last user, when the pipe of its users has been removed", async () => {
    const home = makeHome();
    onTestFinished(() => rm(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 }));
    const base = join(home, "postgres");
    const [server, other] = [serverOf(home), serverOf(home)];
    await server.ensure();
    await other.ensure();
    rmSync(join(base, "lease"));
    const first = serverPid(base);
    process.kill(first, "SIGKILL");
    await gone(first);
    await server.ensure();
    const second = serverPid(base);
    await server.close();
    await gone(second);
    await other.ensure();
    const third = serverPid(base);
    await other.close();
    await gone(third);
    expect(new Set([first, second, third]).size).toBe(3);
  });

  it("that does not start says what it said now, not what it said earlier", async () => {
    const home = makeHome();
    onTestFinished(() => rm(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 }));
    const base = join(home, "postgres");
    const first = serverOf(home);
    await first.ensure();
    await first.close();
    appendFileSync(join(base, "log"), 'FATAL:  lock file "postmaster.pid" already exists\n');
    writeFileSync(join(base, "cluster", "data", "PG_VERSION"), "15\n");
    await expect(serverOf(home).ensure()).rejects.toThrow(
      /^PostgreSQL did not start on .*; it said: (?![^]*lock file)[^]*initialized by PostgreSQL version 15/,
    );
  });
});
