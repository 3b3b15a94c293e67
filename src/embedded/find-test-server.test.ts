import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { findTestServer } from "./find-test-server.ts";
import { testServerOrSkipReason } from "./server-or-skip-reason.ts";
import { fakeMachine } from "./test-support/fake-executables.ts";
import { startTimeSkipping } from "./test-support/start-time-skipping.ts";

const USAGE = "echo 'Usage: <command> <port> <flags>'";
const CACHED = "cache/temporal-test-server-1.31.0/temporal-test-server";
/** Copies no jars: that the launcher then finds a java that prints the usage is all that is looked at. */
const FAKE_MVN = `for argument in "$@"; do case "$argument" in -DoutputDirectory=*) mkdir -p "\${argument#*=}";; esac; done`;

describe("the order in which a time-skipping server is looked for", () => {
  it("takes TEMPORAL_TEST_SERVER_PATH before the cache", async () => {
    const machine = await fakeMachine();
    const named = await machine.script("named", USAGE);
    await machine.script(CACHED, USAGE);
    const env = { ...machine.env, TEMPORAL_TEST_SERVER_PATH: named };
    await expect(findTestServer({ env })).resolves.toBe(named);
  });

  it("takes the cache before anything is downloaded", async () => {
    const machine = await fakeMachine();
    const cached = await machine.script(CACHED, USAGE);
    await expect(findTestServer({ env: machine.env })).resolves.toBe(cached);
  });

  it("has Maven fetch it when the download fails, and keeps what was fetched", async () => {
    const machine = await fakeMachine();
    await machine.script("bin/mvn", FAKE_MVN);
    await machine.script("bin/java", USAGE);
    const env = { ...machine.env, PATH: `${machine.env["PATH"]}:/usr/bin:/bin` };
    await expect(findTestServer({ env })).resolves.toBe(join(machine.folder, CACHED));
    await expect(readdir(join(machine.folder, "cache"))).resolves.toEqual(["temporal-test-server-1.31.0"]);
  });

  it("refuses a TEMPORAL_TEST_SERVER_PATH that is something else", async () => {
    const machine = await fakeMachine();
    const env = { ...machine.env, TEMPORAL_TEST_SERVER_PATH: await machine.script("named", "echo hello") };
    await machine.script(CACHED, USAGE);
    await expect(findTestServer({ env })).rejects.toMatchObject({
      code: "NO_TEMPORAL_SERVER",
      message: expect.stringMatching(/TEMPORAL_TEST_SERVER_PATH: .* does not print the test server's usage: hello/),
    });
  });

  it("names every place that was searched", async () => {
    const machine = await fakeMachine();
    await expect(findTestServer({ env: machine.env })).rejects.toMatchObject({
      tried: [
        { way: "TEMPORAL_TEST_SERVER_PATH", reason: "not set" },
        { way: "the cache", reason: expect.stringContaining("does not exist") },
        { way: "the download of Temporal's SDK", reason: expect.stringContaining("temporal.download") },
        { way: "Maven with Java", reason: "no `mvn` on PATH" },
      ],
    });
  });
});

describe("a suite that needs the time-skipping server", () => {
  it("is skipped with a reason when there is none", async () => {
    const machine = await fakeMachine();
    const { skipReason } = await testServerOrSkipReason({ env: machine.env });
    expect(skipReason).toMatch(/^No time-skipping test server could be had/);
  });

  it("fails with CI set, where a skipped suite would look green", async () => {
    const machine = await fakeMachine();
    const env = { ...machine.env, CI: "true" };
    await expect(testServerOrSkipReason({ env })).rejects.toMatchObject({ name: "NoTemporalServerError" });
  });

  it("fails when a path that was given is wrong", async () => {
    const machine = await fakeMachine();
    const env = { ...machine.env, TEMPORAL_TEST_SERVER_PATH: "/nowhere/at/all" };
    await expect(testServerOrSkipReason({ env })).rejects.toMatchObject({ name: "NoTemporalServerError" });
  });
});

const server = await testServerOrSkipReason();

describe.skipIf(server.skipReason)("the time-skipping server that is found", () => {
  it("skips a month of time within a moment", { timeout: 60_000 }, async () => {
    const environment = await startTimeSkipping(server.path ?? "");
    onTestFinished(() => environment.teardown());
    const beforeMs = await environment.currentTimeMs();
    await environment.sleep("30 days");
    expect((await environment.currentTimeMs()) - beforeMs).toBeGreaterThanOrEqual(30 * 86_400_000);
  });
});
