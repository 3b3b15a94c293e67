import { readdirSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { beforeAll, beforeEach, expect, test } from "vitest";

import { cacheEntry, executablePath } from "./cache-folder.ts";
import { whyNotExecutable } from "./find-on-path.ts";
import type { WayResult } from "./first-way.ts";
import { goInstall } from "./go-install.ts";
import { installInCache } from "./install-in-cache.ts";
import { type BoundedRun, runBounded } from "./run-bounded.ts";

const VERSION = "1.7.12";
const ACTIONLINT = {
  name: `actionlint ${VERSION}`,
  takes: "some 15 seconds",
  package: `github.com/rhysd/actionlint/cmd/actionlint@v${VERSION}`,
};
const BUILD_MS = 10 * 60_000;
const WORKFLOWS = resolve(import.meta.dirname, "../../.github/workflows");

let actionlint: WayResult;

beforeAll(async () => {
  const { env } = process;
  const entry = cacheEntry(env, `actionlint-${VERSION}`, "actionlint");
  const check = async (path: string): Promise<WayResult> => {
    const unfit = await whyNotExecutable(path);
    return unfit === undefined ? { path } : { reason: unfit };
  };
  const onProgress = (line: string): void => void process.stderr.write(`${line}\n`);
  const make = (folder: string) => goInstall({ program: ACTIONLINT, folder, env, onProgress });
  actionlint = await check(executablePath(entry));
  if ("reason" in actionlint) actionlint = await installInCache({ entry, onProgress, check, make });
  if ("path" in actionlint) return;
  const missing = `GitHub's workflows are not checked: ${ACTIONLINT.name} cannot be had: ${actionlint.reason}`;
  if (env["CI"]) throw new Error(missing);
  onProgress(missing);
}, BUILD_MS);

beforeEach(({ skip }) => {
  if ("reason" in actionlint) skip(actionlint.reason);
});

/** Without the checkers of shell and Python that a machine may have or not: the answer is the same everywhere. */
function lint(paths: readonly string[]): Promise<BoundedRun> {
  if ("reason" in actionlint) throw new Error(actionlint.reason);
  const { env } = process;
  return runBounded(actionlint.path, ["-no-color", "-shellcheck=", "-pyflakes=", ...paths], { env, timeoutMs: 20_000 });
}

test("the files in .github/workflows follow GitHub's schema", async () => {
  const paths = readdirSync(WORKFLOWS).map((name) => join(WORKFLOWS, name));
  expect(paths).not.toEqual([]);
  expect(await lint(paths)).toMatchObject({ succeeded: true, output: "" });
});

test("a GitHub workflow with an unknown step is refused by the check", async () => {
  const folder = await mkdtemp(join(tmpdir(), "fiscalflow-actionlint-"));
  try {
    const path = join(folder, "broken.yml");
    const condition = "${{ steps.nobody.outputs.x }}";
    const steps = `[{ run: "true", if: "${condition}" }]`;
    await writeFile(path, `on: push\njobs:\n  all:\n    runs-on: ubuntu-24.04\n    steps: ${steps}\n`);
    expect(await lint([path])).toMatchObject({ succeeded: false, output: expect.stringContaining("nobody") });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
