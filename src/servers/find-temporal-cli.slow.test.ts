import { chmod, readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { findTemporalCli } from "./find-temporal-cli.ts";
import { ServerError } from "./run-command.ts";
import { fakeMachine, versionScript } from "./test-support/fake-executables.ts";
import { isAlive } from "./test-support/process-state.ts";

const IN_CACHE = "cache/temporal-cli-1.5.1-sqlite-1.44.3/temporal";

/** Stands for the Go toolchain: notes that it ran and "builds" an executable that answers `--version`. */
const FAKE_GO = `echo "$@" >> "$PWD/../../go-runs"
[ "$1" = build ] || exit 0
echo 'go: downloading example.com/module v1.0.0' >&2
printf '#!/bin/sh\\necho "temporal version 1.5.1 (Server 1.29.1, UI 2.42.1)"\\n' > temporal
chmod +x temporal`;

async function refusal(promise: Promise<string>): Promise<ServerError> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ServerError);
  return error as ServerError;
}

describe("the order in which a Temporal CLI is looked for", () => {
  it("takes TEMPORAL_CLI_PATH before one on PATH", async () => {
    const machine = await fakeMachine();
    const named = await machine.script("elsewhere/my-temporal", versionScript());
    await machine.script("bin/temporal", versionScript());
    await expect(findTemporalCli({ env: { ...machine.env, TEMPORAL_CLI_PATH: named } })).resolves.toBe(named);
  });

  it("takes one on PATH before the cache", async () => {
    const machine = await fakeMachine();
    await machine.script("bin/temporal", versionScript());
    await machine.script(IN_CACHE, versionScript());
    await expect(findTemporalCli({ env: machine.env })).resolves.toBe("temporal");
  });

  it("ends a build at once, and with all that it made, when it is interrupted", async () => {
    const machine = await fakeMachine();
    await machine.script("bin/go", `echo $$ > ${machine.folder}/pid; exec sleep 600`);
    const interrupt = new AbortController();
    const search = findTemporalCli({ env: machine.env, signal: interrupt.signal });
    search.catch(() => undefined);
    const pid = Number(
      await vi.waitUntil(() => readFile(join(machine.folder, "pid"), "utf8").catch(() => ""), { timeout: 15_000 }),
    );
    interrupt.abort(new Error("interrupted"));
    await expect(search).rejects.toBe(interrupt.signal.reason);
    expect(isAlive(pid)).toBe(false);
    expect(await readdir(join(machine.folder, "cache"))).toEqual([]);
  });

  it("takes the cache before anything is downloaded or built", async () => {
    const machine = await fakeMachine();
    const cached = await machine.script(IN_CACHE, versionScript());
    await machine.script("bin/go", "exit 1");
    const told: string[] = [];
    await expect(findTemporalCli({ env: machine.env, onProgress: (line) => told.push(line) })).resolves.toBe(cached);
    expect(told).toEqual([]);
  });

  it("passes over one on PATH whose server is too old", async () => {
    const machine = await fakeMachine();
    await machine.script("bin/temporal", versionScript("temporal version 1.3.0 (Server 1.27.1, UI 2.36.0)"));
    const cached = await machine.script(IN_CACHE, versionScript());
    await expect(findTemporalCli({ env: machine.env })).resolves.toBe(cached);
  });

  it("builds with go when the download fails, says so, and keeps what it built", async () => {
    const machine = await fakeMachine();
    await machine.script("bin/go", FAKE_GO);
    const told: string[] = [];
    const path = await findTemporalCli({ env: machine.env, onProgress: (line) => told.push(line) });
    expect(path).toBe(join(machine.folder, IN_CACHE));
    expect(told.join("\n")).toMatch(/downloading the Temporal CLI 1\.5\.1\nbuilding the Temporal CLI 1\.5\.1 with go/);
    await expect(findTemporalCli({ env: machine.env })).resolves.toBe(path);
    const runs = (await readFile(join(machine.folder, "go-runs"), "utf8")).trim().split("\n");
    expect(runs).toHaveLength(3);
    expect(runs[1]).toContain("github.com/temporalio/cli/cmd/temporal@v1.5.1");
    await expect(readdir(join(machine.folder, "cache"))).resolves.toEqual(["temporal-cli-1.5.1-sqlite-1.44.3"]);
  });

  it("replaces one in the cache that does not run", async () => {
    const machine = await fakeMachine();
    await machine.script(IN_CACHE, "exit 1");
    await machine.script("bin/go", FAKE_GO);
    const path = await findTemporalCli({ env: machine.env });
    expect(path).toBe(join(machine.folder, IN_CACHE));
    await expect(findTemporalCli({ env: machine.env })).resolves.toBe(path);
    expect((await readFile(join(machine.folder, "go-runs"), "utf8")).trim().split("\n")).toHaveLength(3);
  });

  it("does not put in place what it built if that does not run", async () => {
    const machine = await fakeMachine();
    await machine.script("bin/go", '[ "$1" = build ] && echo broken > temporal || true');
    const error = await refusal(findTemporalCli({ env: machine.env }));
    expect(error.message).toMatch(/go build`: .*EACCES/);
    await expect(readdir(join(machine.folder, "cache"))).resolves.toEqual([]);
  });

  it("serves two processes that search at the same time", async () => {
    const machine = await fakeMachine();
    await machine.script("bin/go", FAKE_GO);
    const paths = await Promise.all([findTemporalCli({ env: machine.env }), findTemporalCli({ env: machine.env })]);
    expect(new Set(paths)).toEqual(new Set([join(machine.folder, IN_CACHE)]));
  });
});

describe("when no Temporal CLI can be had", () => {
  it("names every place that was searched with its reason, and what to do", async () => {
    const machine = await fakeMachine();
    await machine.script("bin/temporal", "echo 'no such thing' >&2; exit 3");
    await machine.script("bin/go", "echo 'go: example.com: module lookup disabled' >&2; exit 1");
    const error = await refusal(findTemporalCli({ env: machine.env }));
    expect(error.message).toMatch(/^No Temporal CLI could be had\. Tried:\n {2}- TEMPORAL_CLI_PATH: not set\n/);
    expect(error.message).toMatch(/on PATH: .*ended with exit code 3: no such thing/);
    expect(error.message).toMatch(/the cache: .*temporal-cli-1\.5\.1.* ENOENT/);
    expect(error.message).toMatch(/download of Temporal's SDK: .*temporal\.download/);
    expect(error.message).toMatch(/go build`: .*module lookup disabled/);
    expect(error.message).toMatch(/What to do: install the Temporal CLI/);
    await expect(readdir(join(machine.folder, "cache"))).resolves.toEqual([]);
  });

  it("says so when Go is not installed", async () => {
    const machine = await fakeMachine();
    const error = await refusal(findTemporalCli({ env: machine.env }));
    expect(error.message).toMatch(/go build`: .*spawn go ENOENT/);
  });

  it.each([
    ["ENOENT", "nowhere", undefined],
    ["EACCES", "plain", "plain"],
    ["ended with exit code 1", "broken", "exit 1"],
    ["does not name a server", "other", "echo other 1.0"],
    ["carries Server 1.28.9; 1.29 or newer is needed", "old", versionScript("temporal version 1.4 (Server 1.28.9)")],
  ])("refuses a TEMPORAL_CLI_PATH (%s) instead of taking another", async (problem, name, body) => {
    const machine = await fakeMachine();
    await machine.script("bin/temporal", versionScript());
    const path = join(machine.folder, name);
    if (body !== undefined) await machine.script(name, body);
    if (body === "plain") await chmod(path, 0o644);
    const error = await refusal(findTemporalCli({ env: { ...machine.env, TEMPORAL_CLI_PATH: path } }));
    expect(error.message).toContain(problem);
    expect(error.message).toContain("correct TEMPORAL_CLI_PATH, or unset it");
    expect(error.message).not.toContain("on PATH:");
  });
});
