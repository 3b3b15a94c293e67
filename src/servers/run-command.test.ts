import { describe, expect, it, vi } from "vitest";
import { runCommand } from "./run-command.ts";
import { isAlive } from "./test-support/process-state.ts";

const env = { PATH: "/usr/bin:/bin" };
const LONG_MS = 60_000;

function sh(script: string, more: { timeoutMs?: number; signal?: AbortSignal; onLine?: (line: string) => void } = {}) {
  return runCommand("/bin/sh", ["-c", script], { env, timeoutMs: LONG_MS, ...more });
}

describe.skipIf(process.platform === "win32")("a command", () => {
  it("answers with what it wrote", async () => {
    const output = await sh("echo one; echo two >&2");
    expect(output.split("\n").toSorted()).toEqual(["one", "two"]);
  });

  it("reports the exit code and the last lines of a failure", async () => {
    await expect(sh("echo sorry >&2; exit 7")).rejects.toThrow(/^ended with exit code 7: sorry$/);
  });

  it("reports that it cannot be started", async () => {
    const run = runCommand("/nowhere/at/all", [], { env, timeoutMs: LONG_MS });
    await expect(run).rejects.toThrow(/could not be started: .*ENOENT/);
  });

  it("that hangs is ended, with its children, when the time is up", async () => {
    let group = 0;
    const run = sh("trap '' TERM; echo $$; sleep 1000", { timeoutMs: 500, onLine: (line) => (group = -Number(line)) });
    await expect(run).rejects.toThrow(/^was still running after 0\.5 s/);
    // The children's exit is collected by init, in its own time.
    await vi.waitFor(() => expect(isAlive(group)).toBe(false), { timeout: 10_000, interval: 10 });
  });

  it("is ended when its signal is aborted, with that reason", async () => {
    const stop = new AbortController();
    const onLine = (): void => stop.abort(new Error("enough"));
    await expect(sh("echo up; sleep 1000", { signal: stop.signal, onLine })).rejects.toThrow(/^enough: up$/);
  });
});
