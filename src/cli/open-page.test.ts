import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { openPage, pageOpener } from "./open-page.ts";

describe("the command that opens a page in the browser", () => {
  const display = { DISPLAY: ":0" };

  it.each([
    ["linux", display, ["xdg-open"]],
    ["linux", { WAYLAND_DISPLAY: "wayland-0", CI: "false" }, ["xdg-open"]],
    ["darwin", {}, ["open"]],
    ["win32", {}, ["cmd", "/c", "start", ""]],
  ] as const)("on %s with %j is %j", (platform, env, command) => {
    expect(pageOpener({ platform, env, isTerminal: true })).toEqual(command);
  });

  it.each([
    ["without a terminal", "darwin", {}, false],
    ["without a display", "linux", {}, true],
    ["in CI", "linux", { ...display, CI: "true" }, true],
    ["on a machine that is reached from another one", "darwin", { SSH_CONNECTION: "10.0.0.1 22 10.0.0.2 22" }, true],
  ] as const)("does not exist %s", (_where, platform, env, isTerminal) => {
    expect(pageOpener({ platform, env, isTerminal })).toBeUndefined();
  });
});

describe("opening a page", () => {
  it("starts the command, and does not wait for its end", async () => {
    const folder = await mkdtemp(join(tmpdir(), "fiscalflow-open-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const seen = join(folder, "seen");
    const script = `require("node:fs").writeFileSync(${JSON.stringify(seen)}, process.argv[1])`;
    expect(await openPage([process.execPath, "-e", script], "/tmp/a page.html")).toBe(true);
    expect(await vi.waitUntil(() => readFile(seen, "utf8").catch(() => ""), { timeout: 10_000 })).toBe(
      "/tmp/a page.html",
    );
  });

  it("does nothing where the command does not exist", async () => {
    expect(await openPage(["fiscalflow-no-such-command"], "/tmp/page.html")).toBe(false);
  });
});
