import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "..");
const NOTES = "### What an upgrade needs\n\n- Nothing.\n\n### Added\n\n- Receipts on paper.";
const OLDER = "## 0.0.1 - 2026-01-02\n\n- The beginning.\n";
const changelog = (unreleased: string): string => `# Changelog\n\n## Unreleased\n\n${unreleased}\n\n${OLDER}`;
const PROMISES = "signal callbackReceived\nstage completed\n";
const day = new Date().toISOString().slice(0, 10);

/** Where Kubernetes, or who installs there, is told the version: of the image, of names, of the base, of the image. */
const MANIFESTS = [
  "deploy/kubernetes/base/kustomization.yaml",
  "deploy/kubernetes/base/version/kustomization.yaml",
  "deploy/kubernetes/example/kustomization.yaml",
  "docs/kubernetes.md",
];

/** A repository with the package files of this one, and one workspace; a copy of it for each test. */
const begun = mkdtempSync(join(tmpdir(), "fiscalflow-release-"));
let folder = begun;

beforeAll(() => {
  for (const name of ["package.json", "package-lock.json", "scripts/release.mjs", ...MANIFESTS]) {
    cpSync(join(ROOT, name), join(folder, name));
  }
  const workspace = { name: "@fiscalflow/till", version: "0.0.1" };
  mkdirSync(join(folder, "packages/till"), { recursive: true });
  write("packages/till/package.json", `${JSON.stringify(workspace)}\n`);
  const lock = json("package-lock.json");
  const others = Object.entries(lock.packages).filter(([path]) => path === "" || path.includes("node_modules"));
  lock.packages = { ...Object.fromEntries(others), "packages/till": workspace };
  write("package-lock.json", `${JSON.stringify(lock)}\n`);
  write("CHANGELOG.md", changelog(NOTES));
  mkdirSync(join(folder, "test/promises"), { recursive: true });
  write("test/promises/next-release.txt", PROMISES);
  git("init", "--quiet", "--initial-branch=main");
  git("add", ".");
  git("commit", "--quiet", "--message", "Begin");
});

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "fiscalflow-release-"));
  cpSync(begun, folder, { recursive: true });
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));
afterAll(() => rmSync(begun, { recursive: true, force: true }));

function write(path: string, text: string): void {
  writeFileSync(join(folder, path), text);
}

function read(path: string): string {
  return readFileSync(join(folder, path), "utf8");
}

function json(path: string): { version: string; packages: Record<string, { version?: string }> } {
  return JSON.parse(read(path));
}

const env = {
  ...process.env,
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_AUTHOR_NAME: "A",
  GIT_AUTHOR_EMAIL: "a@example.org",
  GIT_COMMITTER_NAME: "A",
  GIT_COMMITTER_EMAIL: "a@example.org",
};

function git(...args: string[]): string {
  const run = spawnSync("git", args, { cwd: folder, encoding: "utf8", env });
  if (run.status !== 0) throw new Error(run.stderr);
  return run.stdout.trim();
}

function release(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ["scripts/release.mjs", ...args], {
    cwd: folder,
    encoding: "utf8",
    env,
  });
  return { status, stdout, stderr };
}

test("a release is one commit with a tag that has its notes", () => {
  const before = json("package-lock.json");
  expect(release("99.1.0")).toEqual({
    status: 0,
    stdout: expect.stringContaining("git push --atomic origin main v99.1.0\n"),
    stderr: "",
  });
  expect(git("status", "--porcelain")).toBe("");
  expect(git("log", "--format=%s")).toBe("Release 99.1.0\nBegin");
  expect(git("cat-file", "tag", "v99.1.0")).toContain(`\n\nfiscalflow 99.1.0\n\n${NOTES}`);
  expect(git("rev-parse", "v99.1.0^{commit}")).toBe(git("rev-parse", "HEAD"));
  expect(read("CHANGELOG.md")).toBe(`# Changelog\n\n## Unreleased\n\n## 99.1.0 - ${day}\n\n${NOTES}\n\n${OLDER}`);
  for (const path of ["package.json", "packages/till/package.json"]) expect(json(path).version).toBe("99.1.0");
  expect(read("test/promises/last-release.txt")).toBe(`fiscalflow 99.1.0\n${PROMISES}`);
  const [image, names, overlay, page] = MANIFESTS.map(read);
  expect(image).toContain('newTag: "99.1.0"\n');
  expect(names).toContain("nameSuffix: -99-1-0\n");
  expect(names).toContain('app.kubernetes.io/version: "99.1.0"\n');
  expect(overlay).toContain("/deploy/kubernetes/base?ref=v99.1.0\n");
  expect(page).toContain("`ghcr.io/fiscalflow/fiscalflow:v99.1.0`");
  // Nothing else in the lock has changed: not the optional packages of other machines, for one.
  const after = json("package-lock.json");
  expect(after).toEqual({
    ...before,
    version: "99.1.0",
    packages: {
      ...before.packages,
      "": { ...before.packages[""], version: "99.1.0" },
      "packages/till": { ...before.packages["packages/till"], version: "99.1.0" },
    },
  });
  expect(release("99.2.0").stderr).toBe("CHANGELOG.md says nothing under `## Unreleased`.\n");
});

test("the check of a tag that a release has made prints its notes", () => {
  release("99.1.0");
  expect(release("--check", "v99.1.0")).toEqual({ status: 0, stdout: `${NOTES}\n`, stderr: "" });
});

test.each([
  ["another tag", () => {}, "v99.2.0", "The tag v99.2.0 is not the version in package.json, 99.1.0."],
  ["a package left behind", leaveBehind, "v99.1.0", "is not the version in packages/till/package.json, 0.0.1."],
  ["a manifest left behind", leaveManifestBehind, "v99.1.0", `${MANIFESTS[1]} names another version than 99.1.0 too.`],
  ["an example left behind", () => leaveTagBehind(2), "v99.1.0", `${MANIFESTS[2]} names another version than 99.1.0`],
  ["a page left behind", () => leaveTagBehind(3), "v99.1.0", `${MANIFESTS[3]} names another version than 99.1.0 too.`],
  ["no notes", () => write("CHANGELOG.md", changelog(NOTES)), "v99.1.0", "CHANGELOG.md has no part `## 99.1.0`."],
])("the check refuses %s", (_, given, tag, reason) => {
  release("99.1.0");
  given();
  expect(release("--check", tag)).toEqual({ status: 1, stdout: "", stderr: expect.stringContaining(reason) });
});

function leaveBehind(): void {
  const path = "packages/till/package.json";
  write(path, read(path).replace("99.1.0", "0.0.1"));
}

function leaveManifestBehind(): void {
  const [, path = ""] = MANIFESTS;
  write(path, read(path).replace("-99-1-0", "-0-5-0"));
}

function leaveTagBehind(index: number): void {
  const path = MANIFESTS[index] ?? "";
  write(path, read(path).replace("v99.1.0", "v0.5.0"));
}

test("a release that git refuses leaves all as it was, and can be made again", () => {
  const hook = ".git/hooks/pre-commit";
  mkdirSync(join(folder, ".git/hooks"), { recursive: true });
  writeFileSync(join(folder, hook), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
  expect(release("99.1.0")).toMatchObject({ status: 1, stderr: expect.stringContaining("all is as it was") });
  expect(git("status", "--porcelain") + git("tag", "--list")).toBe("");
  rmSync(join(folder, hook));
  expect(release("99.1.0")).toMatchObject({ status: 0, stderr: "" });
});

test("a release is refused while a page tells of it as of one to come", () => {
  write("README.md", "Until 99.1 is published, run `npm pack`.\n");
  git("add", ".");
  git("commit", "--quiet", "--message", "Tell");
  const stderr = "Say first what holds once 99.1 is published: README.md.\n";
  expect(release("99.1.0")).toEqual({ status: 1, stdout: "", stderr });
  expect(release("99.2.0")).toMatchObject({ status: 0 });
});

test("a release that is published is kept in place of the one before, for the rehearsal of the next upgrade", () => {
  release("99.1.0");
  mkdirSync(join(folder, "package"));
  write("package/package.json", JSON.stringify({ name: "fiscalflow", version: "99.1.0" }));
  const pack = () => spawnSync("tar", ["-czf", "fiscalflow-99.1.0.tgz", "package"], { cwd: folder });
  pack();
  const unbuilt = "fiscalflow-99.1.0.tgz was packed before it was built.\n";
  expect(release("--keep", "fiscalflow-99.1.0.tgz")).toMatchObject({ status: 1, stderr: unbuilt });
  mkdirSync(join(folder, "package/dist"));
  write("package/dist/workflow-bundle.cjs", "");
  pack();
  mkdirSync(join(folder, "test/rehearsal"), { recursive: true });
  write("test/rehearsal/fiscalflow-0.5.0.tgz", "");
  write("test/rehearsal/last-release.json", JSON.stringify({ file: "fiscalflow-0.5.0.tgz" }));
  expect(release("--keep", "fiscalflow-99.1.0.tgz")).toMatchObject({ status: 0, stderr: "" });
  expect(readdirSync(join(folder, "test/rehearsal"))).toEqual(["fiscalflow-99.1.0.tgz", "last-release.json"]);
  const packed = readFileSync(join(folder, "test/rehearsal/fiscalflow-99.1.0.tgz"));
  expect(JSON.parse(read("test/rehearsal/last-release.json"))).toEqual({
    file: "fiscalflow-99.1.0.tgz",
    version: "99.1.0",
    commit: git("rev-parse", "v99.1.0^{commit}"),
    sha256: createHash("sha256").update(packed).digest("hex"),
  });
  git("tag", "--delete", "v99.1.0");
  expect(release("--keep", "fiscalflow-99.1.0.tgz")).toMatchObject({ status: 1, stderr: "There is no tag v99.1.0.\n" });
});

test("a dry run prints what it would do, and does nothing", () => {
  const { status, stdout } = release("99.1.0", "--dry-run");
  expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringContaining(NOTES) });
  expect(stdout).toContain("package.json, packages/till/package.json, package-lock.json, ");
  expect(stdout).toContain(`${MANIFESTS.join(", ")}, CHANGELOG.md, test/promises/last-release.txt`);
  expect(git("status", "--porcelain") + git("tag", "--list")).toBe("");
  expect(git("log", "--format=%s")).toBe("Begin");
});

test.each([
  ["no version", [], () => {}, "Which version?"],
  ["no whole version", ["1.0"], () => {}, "Which version?"],
  ["a version of the past", ["0.1.0"], () => {}, "0.1.0 does not come after"],
  ["a new file", ["99.1.0"], () => write("new.txt", ""), "Files are changed or new"],
  ["a tag that exists", ["99.1.0"], () => git("tag", "v99.1.0"), "The tag v99.1.0 exists already"],
  ["no branch", ["99.1.0"], () => git("checkout", "--quiet", "--detach"), "No branch is checked out"],
  ["nothing to release", ["99.1.0"], () => commit(changelog("### Added")), "says nothing under `## Unreleased`"],
  ["no part of what is unreleased", ["99.1.0"], () => commit(OLDER), "has no part `## Unreleased`"],
  ["no word about upgrades", ["99.1.0"], () => commit(changelog("- More.")), "lacks `### What an upgrade needs`"],
])("a release with %s is refused, and nothing is changed", (_, args, given, reason) => {
  given();
  const before = state();
  expect(release(...args)).toEqual({ status: 1, stdout: "", stderr: expect.stringContaining(reason) });
  expect(state()).toBe(before);
});

function state(): string {
  return git("status", "--porcelain") + git("show-ref", "--head");
}

function commit(text: string): void {
  write("CHANGELOG.md", text);
  git("commit", "--quiet", "--all", "--message", "Change");
}

test("the changelog of this repository has a part for what is unreleased", () => {
  expect(readFileSync(join(ROOT, "CHANGELOG.md"), "utf8")).toMatch(/^## Unreleased\n/m);
});
