import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll, expect, test } from "vitest";

const SCRIPT = resolve(import.meta.dirname, "build-id.mjs");
const folder = mkdtempSync(join(tmpdir(), "fiscalflow-build-id-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function write(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

function buildId(): string {
  cpSync(resolve(import.meta.dirname, "../package.json"), join(folder, "package.json"));
  expect(spawnSync(process.execPath, [SCRIPT], { cwd: folder }).status).toBe(0);
  return readFileSync(join(folder, "dist/build-id"), "utf8");
}

test("a build's id is its version and a hash of its code: the same for the same code, another for any other", () => {
  write("dist/workflow-bundle.cjs", "workflows");
  write("dist/activities/main.js", "one");
  write("dist/src/main.js", "two");
  const first = buildId();
  expect(first).toMatch(/^\d+\.\d+\.\d+\S*-[0-9a-f]{12}\n$/);
  write("dist/src/main.js.map", "not code");
  expect(buildId()).toBe(first);
  const others = ["dist/workflow-bundle.cjs", "dist/activities/main.js", "dist/src/main.js", "dist/src/new.js"].map(
    (path) => {
      write(path, `other ${path}`);
      return buildId();
    },
  );
  expect(new Set([first, ...others]).size).toBe(5);
});
