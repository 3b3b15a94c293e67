import { describe, expect, it, vi } from "vitest";
import { runBounded } from "./run-bounded.ts";
import { isAlive } from "./test-support/process-state.ts";

const env = { PATH: "/usr/bin:/bin" };
const LONG_MS = 60_000;

describe.skipIf(process.platform === "win32")("a bounded run", () => {
  it("returns the program's output", async () => {
    const run = await runBounded("/bin/sh", ["-c", "echo one; echo two >&2"], { env, timeoutMs: LONG_MS });
    expect(run).toMatchObject({ succeeded: true, problem: "" });
    expect(run.output.split("\n").toSorted()).toEqual(["one", "two"]);
  });

  it("reports the exit code and the last lines of a failure", async () => {
    const run = await runBounded("/bin/sh", ["-c", "echo sorry >&2; exit 7"], { env, timeoutMs: LONG_MS });
    expect(run).toMatchObject({ succeeded: false, problem: "ended with exit code 7: sorry" });
  });

  it("reports that a program cannot be started", async () => {
    const run = await runBounded("/nowhere/at/all", [], { env, timeoutMs: LONG_MS });
    expect(run.problem).toMatch(/could not be started: .*ENOENT/);
  });

  it("ends a program that hangs, with its children, when the time is up", async () => {
    const script = "trap '' TERM; echo $$; sleep 1000";
    const run = await runBounded("/bin/sh", ["-c", script], { env, timeoutMs: 200 });
    expect(run.problem).toMatch(/^was still running after 0\.2 s/);
    // The children's exit is collected by init, in its own time.
    const group = -Number(run.output);
    await vi.waitFor(() => expect(isAlive(group)).toBe(false), { timeout: 10_000, interval: 10 });
  });

  it("ends a program when its signal is aborted, with that reason", async () => {
    const stop = new AbortController();
    const run = await runBounded("/bin/sh", ["-c", "echo up; sleep 1000"], {
      env,
      timeoutMs: LONG_MS,
      signal: stop.signal,
      onLine: () => stop.abort(new Error("enough")),
    });
    expect(run.problem).toBe("enough: up");
  });
});
