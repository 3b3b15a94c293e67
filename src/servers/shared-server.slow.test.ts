import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { compileSource } from "./test-support/compiled-source.ts";
import { isAlive } from "./test-support/process-state.ts";
import { makeHome } from "../ledger/test-support/home-of-run.ts";
import { type LedgerProcess, startLedgerProcess } from "../ledger/test-support/ledger-process.ts";
import { gone, serverPid } from "../ledger/test-support/server-process.ts";

let compiled: ReturnType<typeof compileSource>;
let home: string;
let base: string;
beforeAll(() => {
  compiled = compileSource("ledger/index.ts");
  home = makeHome();
  base = join(home, "postgres");
});
afterAll(async () => {
  compiled.remove();
  await rm(home, { recursive: true, force: true });
});

async function start(): Promise<LedgerProcess> {
  const started = await startLedgerProcess(compiled.index, home);
  onTestFinished(() => void started.process.kill("SIGKILL"));
  return started;
}

describe("processes that share an embedded PostgreSQL server", { timeout: 60_000 }, () => {
  it("may all start at once on an empty folder", async () => {
    const all = await Promise.all([start(), start(), start(), start()]);
    const answers = await Promise.all(all.map((one) => one.take("a1")));
    expect(answers.toSorted()).toEqual(["taken", "unknown", "unknown", "unknown"]);
    const pid = serverPid(base);
    expect(readdirSync(base).filter((name) => name.includes("making"))).toEqual([]);
    expect(await Promise.all(all.map((one) => one.close()))).toEqual([0, 0, 0, 0]);
    await gone(pid);
  });

  it("share one server, which the last of them stops", async () => {
    const first = await start();
    const pid = serverPid(base);
    const second = await start();
    expect(serverPid(base)).toBe(pid);
    expect([await first.take("a2"), await second.take("a2")]).toEqual(["taken", "unknown"]);
    expect(await first.close()).toBe(0);
    expect(await second.take("b2")).toBe("taken");
    expect(isAlive(pid)).toBe(true);
    expect(await second.close()).toBe(0);
    await gone(pid);
  });

  it("and are all killed leave a server that ends by itself, and keeps their claims", async () => {
    const all = await Promise.all([start(), start()]);
    const pid = serverPid(base);
    expect(await all[0]?.take("a3")).toBe("taken");
    await Promise.all(all.map((one) => one.kill()));
    await gone(pid);
    const next = await start();
    expect(await next.take("a3")).toBe("unknown");
    await next.close();
  });

  it("keep the server when one of them is killed", async () => {
    const [one, other] = [await start(), await start()];
    const pid = serverPid(base);
    await one.kill();
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect([isAlive(pid), await other.take("a4")]).toEqual([true, "taken"]);
    await other.close();
    await gone(pid);
  });

  it("and are killed with the script that watches them leave a server that the next one takes over", async () => {
    const one = await start();
    const pid = serverPid(base);
    expect(await one.take("a5")).toBe("taken");
    const scripts = scriptsOf(base);
    expect(scripts).not.toEqual([]);
    for (const script of scripts) process.kill(script, "SIGKILL");
    await one.kill();
    const next = await start();
    expect([serverPid(base), await next.take("a5")]).toEqual([pid, "unknown"]);
    process.kill(pid, "SIGINT");
    await gone(pid);
    await next.close();
  });

  it("get another server when it is killed, even if its process id is reused", async () => {
    const one = await start();
    expect(await one.take("a6")).toBe("taken");
    const pid = serverPid(base);
    process.kill(pid, "SIGKILL");
    await gone(pid);
    const file = join(base, "cluster", "data", "postmaster.pid");
    await writeFile(file, readFileSync(file, "utf8").replace(String(pid), String(process.pid)));
    expect(await one.take("a6")).toBe("taken");
    expect(await one.take("b6")).toBe("taken");
    expect(serverPid(base)).not.toBe(process.pid);
    await one.close();
  });
});

/** The shells that run the server of `base`, and watch its lease. */
function scriptsOf(folder: string): number[] {
  const all = execFileSync("ps", ["-eo", "pid,args"], { encoding: "utf8" }).split("\n");
  return all.flatMap((line) => {
    const isScript = line.includes("fiscalflow-ledger-server") && line.includes(folder);
    return isScript ? [Number.parseInt(line, 10)] : [];
  });
}
