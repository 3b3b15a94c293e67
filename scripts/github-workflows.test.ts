import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";

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

describe("actionlint", () => {
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
});

const permissions = z.record(z.string(), z.enum(["read", "write", "none"]));
const workflow = z.looseObject({
  permissions,
  jobs: z.record(
    z.string(),
    z.looseObject({
      permissions: permissions.optional(),
      needs: z.array(z.string()).default([]),
      environment: z.string().optional(),
      if: z.string().optional(),
      steps: z
        .array(z.looseObject({ run: z.string().optional(), with: z.record(z.string(), z.unknown()).optional() }))
        .default([]),
    }),
  ),
});

const files = readdirSync(WORKFLOWS);
const textOf = (name: string): string => readFileSync(join(WORKFLOWS, name), "utf8");

describe.each(files)("the GitHub workflow %s", (name) => {
  const { jobs, permissions: ofAll } = workflow.parse(parse(textOf(name)));
  const steps = Object.values(jobs).flatMap((job) => job.steps);

  test("uses each action by its commit, with the version beside it", () => {
    const used = [...textOf(name).matchAll(/\buses:(.*)/g)].map(([, what = ""]) => what.trim());
    expect(used).not.toEqual([]);
    const loose = used.filter((what) => !/^([\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+|\.\/\S+)$/.test(what));
    expect(loose).toEqual([]);
  });

  test("may write only where it publishes", () => {
    const jobsThatWrite = Object.entries(jobs).map(([job, { permissions: given = ofAll }]) => [
      job,
      Object.keys(given).filter((right) => given[right] === "write"),
    ]);
    const writing = jobsThatWrite.filter(([, rights]) => rights?.length !== 0);
    expect(Object.values(ofAll)).not.toContain("write");
    expect(Object.fromEntries(writing)).toEqual(
      name === "release.yml" ? { npm: ["id-token"], image: ["packages"], github: ["contents"] } : {},
    );
  });

  test("puts no expression into a shell script, where its value would be read as commands", () => {
    expect(steps.filter(({ run = "" }) => run.includes("${{"))).toEqual([]);
  });

  test("leaves no credentials in the checkout", () => {
    const checkouts = steps.filter(({ uses }) => String(uses).startsWith("actions/checkout@"));
    for (const checkout of checkouts) expect(checkout).toMatchObject({ with: { "persist-credentials": false } });
  });
});

describe("a release", () => {
  const { jobs } = workflow.parse(parse(textOf("release.yml")));
  const runs = (text: string): string[] =>
    Object.keys(jobs).filter((name) => jobs[name]?.steps.some(({ run = "" }) => run.includes(text)));
  /** Those that must have succeeded before a job begins. */
  const before = (name: string): string[] => (jobs[name]?.needs ?? []).flatMap((one) => [one, ...before(one)]);
  const publishing = ["npm", "image", "github"];

  test("is packed where no tool runs whose packages nothing pins", () => {
    expect(runs("npm pack")).toEqual(["pack"]);
    expect(runs("check:kubernetes")).toEqual(["kubernetes"]);
    expect(before("pack")).toEqual([]);
    // What it has made stays there.
    expect(jobs["kubernetes"]?.steps.filter(({ uses }) => /artifact|cache@/.test(String(uses)))).toEqual([]);
  });

  test.each(publishing)(
    "publishes by the job %s after all gates, and with the approval that its environment asks for",
    (name) => {
      const approved = Object.keys(jobs).filter((one) => jobs[one]?.environment === "npm");
      expect(approved).toEqual(["npm"]);
      expect([name, ...before(name)]).toEqual(expect.arrayContaining(["gates", "kubernetes", "pack", ...approved]));
      // Such as `always()`, which does not wait for a success.
      expect(jobs[name]?.if).toBeUndefined();
    },
  );
});

test("Dependabot looks after the packages, the actions, the image and what compose runs", () => {
  const text = readFileSync(resolve(WORKFLOWS, "../dependabot.yml"), "utf8");
  const config = z
    .object({ version: z.literal(2), updates: z.array(z.looseObject({ "package-ecosystem": z.string() })) })
    .parse(parse(text));
  const looked = config.updates.map((update) => update["package-ecosystem"]);
  expect(looked).toEqual(["npm", "github-actions", "docker", "docker-compose"]);
});
