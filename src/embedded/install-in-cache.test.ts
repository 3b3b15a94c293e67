import { mkdir, readFile, readdir, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { checkTemporalCli } from "./check-executable.ts";
import { temporalCliEntry } from "./cache-folder.ts";
import { type Installation, installInCache } from "./install-in-cache.ts";
import { type FakeMachine, fakeMachine, versionScript } from "./test-support/fake-executables.ts";

const NAME = "temporal-cli-1.5.1";

function installation(machine: FakeMachine, make: Installation["make"]): Installation {
  const { env } = machine;
  return {
    entry: temporalCliEntry(env),
    onProgress: () => undefined,
    check: (path) => checkTemporalCli(path, env),
    make,
  };
}

it("an installation removes the files of a killed build, and takes over its lock", async () => {
  const machine = await fakeMachine();
  const cache = join(machine.folder, "cache");
  await mkdir(join(cache, `${NAME}.making-abc123`), { recursive: true });
  await writeFile(join(cache, `${NAME}.making-abc123`, "temporal"), "half of it");
  await writeFile(join(cache, `${NAME}.lock`), "");
  const minuteAgo = new Date(Date.now() - 60_000);
  await utimes(join(cache, `${NAME}.lock`), minuteAgo, minuteAgo);
  const make = async (folder: string): Promise<undefined> => {
    await machine.script(join("cache", folder.slice(cache.length), "temporal"), versionScript());
    return undefined;
  };
  await expect(installInCache(installation(machine, make))).resolves.toEqual({ path: join(cache, NAME, "temporal") });
  await expect(readdir(cache)).resolves.toEqual([NAME]);
});

it("an installation that fails keeps the previous files, and leaves nothing incomplete", async () => {
  const machine = await fakeMachine();
  const broken = await machine.script(join("cache", NAME, "temporal"), "exit 1");
  const make = async (folder: string): Promise<string> => {
    await writeFile(join(folder, "temporal"), "half of it");
    return "the disk is full";
  };
  await expect(installInCache(installation(machine, make))).resolves.toEqual({ reason: "the disk is full" });
  await expect(readdir(join(machine.folder, "cache"))).resolves.toEqual([NAME]);
  await expect(readFile(broken, "utf8")).resolves.toContain("exit 1");
});

it("an installation that does not pass the check is not put in place", async () => {
  const machine = await fakeMachine();
  const make = async (folder: string): Promise<undefined> => {
    await writeFile(join(folder, "temporal"), "not a program");
    return undefined;
  };
  await expect(installInCache(installation(machine, make))).resolves.toMatchObject({
    reason: expect.stringContaining("is not executable"),
  });
  await expect(readdir(join(machine.folder, "cache"))).resolves.toEqual([]);
});

it("an installation into a cache that cannot be written says so", async () => {
  const machine = await fakeMachine();
  await writeFile(join(machine.folder, "cache"), "a file where the folder should be");
  await expect(installInCache(installation(machine, async () => undefined))).resolves.toMatchObject({
    reason: expect.stringMatching(/the cache .* cannot be used/),
  });
});
