import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { LedgerUnavailableError, openLedger } from "../ledger/index.ts";
import { makeHome } from "../ledger/test-support/home-of-run.ts";
import { firstTry } from "../ledger/test-support/movements.ts";
import { serverPid } from "../ledger/test-support/server-process.ts";

const isRoot = process.getuid?.() === 0;

function removeAfterwards(...folders: string[]): void {
  onTestFinished(async () => {
    for (const folder of folders) await rm(folder, { recursive: true, force: true });
  });
}

describe("the embedded PostgreSQL server", { timeout: 60_000 }, () => {
  it.runIf(isRoot)(
    "of root with a private home runs under another user, from a folder that this user can reach",
    async () => {
      const home = mkdtempSync(join(tmpdir(), "fiscalflow-private-"));
      const apart = `/var/lib/fiscalflow/${createHash("sha256").update(home).digest("hex").slice(0, 16)}`;
      removeAfterwards(home, apart);
      const first = firstTry();
      for (const answer of [{ kind: "taken" }, { kind: "unknown" }]) {
        const ledger = openLedger({ home });
        await ledger.ready();
        expect(await ledger.stock.take({ ...first, token: answer.kind })).toMatchObject(answer);
        expect(statSync(`/proc/${serverPid(apart)}`).uid).toBeGreaterThan(0);
        await ledger.close();
        // What was chosen once stays chosen.
        chmodSync(home, 0o755);
      }
      expect(existsSync(join(home, "postgres"))).toBe(false);
    },
  );

  it("keeps its folder and its password to its user, under a path with any characters", async () => {
    const parent = makeHome();
    removeAfterwards(parent);
    const home = join(parent, `it's "odd"`);
    const ledger = openLedger({ home });
    onTestFinished(() => ledger.close());
    await ledger.ready();
    expect(await ledger.stock.take(firstTry())).toEqual({ kind: "taken" });
    const base = join(home, "postgres");
    expect(statSync(base).mode & 0o777).toBe(0o700);
    expect(statSync(join(base, "cluster", "password")).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(base, "cluster", "data", "pg_hba.conf"), "utf8")).not.toMatch(/\btrust$/m);
  });

  it("starts over the unfinished files of a killed process", async () => {
    const home = makeHome();
    removeAfterwards(home);
    const half = join(home, "postgres", "cluster.making-half", "data");
    mkdirSync(half, { recursive: true });
    writeFileSync(join(half, "PG_VERSION"), "18\n");
    const ledger = openLedger({ home });
    onTestFinished(() => ledger.close());
    await ledger.ready();
    expect(await ledger.stock.take(firstTry())).toEqual({ kind: "taken" });
  });

  it("says that the path of its home is too long for a socket", async () => {
    const parent = makeHome();
    removeAfterwards(parent);
    const ledger = openLedger({ home: join(parent, "long".repeat(20)) });
    onTestFinished(() => ledger.close());
    await expect(ledger.ready()).rejects.toThrow(/is too long .*choose a home with a shorter path, or set LEDGER_URL/);
  });

  it("says that its home folder cannot be used", async () => {
    const parent = makeHome();
    removeAfterwards(parent);
    const home = join(parent, "file");
    writeFileSync(home, "");
    const ledger = openLedger({ home });
    onTestFinished(() => ledger.close());
    await expect(ledger.stock.read(firstTry())).rejects.toThrow(LedgerUnavailableError);
    await expect(ledger.ready()).rejects.toThrow(/choose another home, or set LEDGER_URL/);
  });

  it("says that its data is of another version", async () => {
    const home = makeHome();
    removeAfterwards(home);
    const first = openLedger({ home });
    await first.ready();
    await first.close();
    writeFileSync(join(home, "postgres", "cluster", "data", "PG_VERSION"), "15\n");
    const ledger = openLedger({ home });
    onTestFinished(() => ledger.close());
    await expect(ledger.ready()).rejects.toThrow(/initialized by PostgreSQL version 15/);
  });
});
