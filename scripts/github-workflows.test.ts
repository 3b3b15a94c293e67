import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { beforeAll, beforeEach, expect, test } from "vitest";

const ACTIONLINT = "github.com/rhysd/actionlint/cmd/actionlint@v1.7.12";
/** Go downloads and builds it once, and keeps what it made. */
const BUILD_MS = 10 * 60_000;
const WORKFLOWS = resolve(import.meta.dirname, "../.github/workflows");

/** Without the checkers of shell and Python that a machine may have or not: the answer is the same everywhere. */
function actionlint(args: readonly string[]) {
  const all = ["run", ACTIONLINT, "-no-color", "-shellcheck=", "-pyflakes=", ...args];
  const { status, stdout, stderr, error } = spawnSync("go", all, { encoding: "utf8", timeout: BUILD_MS });
  return { succeeded: status === 0, stdout, problem: error?.message ?? stderr };
}

let missing: string | undefined;

beforeAll(() => {
  const { succeeded, problem } = actionlint(["-version"]);
  if (succeeded) return;
  missing = `GitHub's workflows are not checked: actionlint cannot be had: ${problem}`;
  if (process.env["CI"]) throw new Error(missing);
}, BUILD_MS);

beforeEach(({ skip }) => {
  if (missing !== undefined) skip(missing);
});

test("the files in .github/workflows follow GitHub's schema", () => {
  const paths = readdirSync(WORKFLOWS).map((name) => join(WORKFLOWS, name));
  expect(paths).not.toEqual([]);
  expect(actionlint(paths)).toMatchObject({ succeeded: true, stdout: "" });
});

test("a GitHub workflow with an unknown step is refused by the check", () => {
  const folder = mkdtempSync(join(tmpdir(), "fiscalflow-actionlint-"));
  try {
    const path = join(folder, "broken.yml");
    const condition = "${{ steps.nobody.outputs.x }}";
    const steps = `[{ run: "true", if: "${condition}" }]`;
    writeFileSync(path, `on: push\njobs:\n  all:\n    runs-on: ubuntu-24.04\n    steps: ${steps}\n`);
    expect(actionlint([path])).toMatchObject({ succeeded: false, stdout: expect.stringContaining("nobody") });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
