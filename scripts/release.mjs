// Makes a release in this repository, and pushes nothing:
//   npm run release -- 1.0.0 --dry-run
//   npm run release -- 1.0.0
// Before a tag is published, refuses one that is not what the files say; prints what the changelog says of it:
//   node scripts/release.mjs --check v1.0.0
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

const ROOT = resolve(import.meta.dirname, "..");
const UPGRADE = "### What an upgrade needs";
/** The names of objects, which take no dots, carry the version too. */
const KUBERNETES = ["deploy/kubernetes/base/kustomization.yaml", "deploy/kubernetes/base/version/kustomization.yaml"];

class Refusal extends Error {}

/** @param {string} path */
const read = (path) => readFileSync(join(ROOT, path), "utf8");

/** @param {string} version */
const inName = (version) => version.replaceAll(".", "-");

/** @param {string[]} args @param {string} [input] */
const git = (args, input) => execFileSync("git", args, { cwd: ROOT, encoding: "utf8", input }).trim();

/**
 * The changelog after the release, and what it says of it.
 * @param {string} text @param {string} version
 */
function releaseNotes(text, version) {
  const [before = "", rest] = text.split(/^## Unreleased\n/m);
  if (rest === undefined) throw new Refusal("CHANGELOG.md has no part `## Unreleased`.");
  const [part = "", ...older] = rest.split(/^(?=## )/m);
  const notes = part.trim();
  if (!/^[^#\s]/m.test(notes)) throw new Refusal("CHANGELOG.md says nothing under `## Unreleased`.");
  const [, upgrade = ""] = notes.split(`${UPGRADE}\n`);
  if (!/^\s*[^#\s]/.test(upgrade)) throw new Refusal(`CHANGELOG.md lacks \`${UPGRADE}\`, or says nothing there.`);
  const today = new Date().toISOString().slice(0, 10);
  const parts = [
    `${before}## Unreleased\n`,
    `## ${version} - ${today}\n\n${notes}\n`,
    ...older.map((one) => one.trimEnd() + "\n"),
  ];
  return { notes, changelog: parts.join("\n") };
}

/**
 * The files that name the version, with it set: every package.json, the lock file, which lists the workspaces, and what
 * Kubernetes is told.
 * @param {string} version @returns {Map<string, string>}
 */
function withVersion(version) {
  const lock = JSON.parse(read("package-lock.json"));
  const current = lock.version;
  const files = new Map();
  for (const [folder, locked] of Object.entries(lock.packages)) {
    if (folder.includes("node_modules") || locked.version === undefined) continue;
    locked.version = version;
    const path = join(folder, "package.json");
    files.set(path, { ...JSON.parse(read(path)), version });
  }
  files.set("package-lock.json", { ...lock, version });
  const texts = new Map([...files].map(([path, content]) => [path, `${JSON.stringify(content, null, 2)}\n`]));
  for (const path of KUBERNETES) {
    const text = read(path).replaceAll(`"${current}"`, `"${version}"`);
    texts.set(path, text.replaceAll(`-${inName(current)}\n`, `-${inName(version)}\n`));
  }
  return texts;
}

/** @param {string} version @param {string} current */
function checkVersion(version, current) {
  if (!/^\d+\.\d+\.\d+$/.test(version)) throw new Refusal("Which version? For example: npm run release -- 1.0.0");
  if (version.localeCompare(current, "en", { numeric: true }) <= 0) {
    throw new Refusal(`${version} does not come after ${current}, the version in package.json.`);
  }
}

/** @param {string} tag @returns what the changelog says of that release */
function releasedNotes(tag) {
  const version = tag.replace(/^v/, "");
  for (const [path, content] of withVersion(version)) {
    const found = path.endsWith(".json") ? JSON.parse(read(path)).version : version;
    if (found !== version) throw new Refusal(`The tag ${tag} is not the version in ${path}, ${found}.`);
    if (content !== read(path)) throw new Refusal(`${path} names another version than ${version} too.`);
  }
  const [part] = read("CHANGELOG.md")
    .split(/^(?=## )/m)
    .filter((text) => text.startsWith(`## ${version} - `));
  if (part === undefined) throw new Refusal(`CHANGELOG.md has no part \`## ${version}\`.`);
  return part.slice(part.indexOf("\n")).trim();
}

function release() {
  const { values, positionals } = parseArgs({
    options: { "dry-run": { type: "boolean" }, check: { type: "string" } },
    allowPositionals: true,
  });
  if (values.check !== undefined) {
    process.stdout.write(`${releasedNotes(values.check)}\n`);
    return;
  }
  const [version = ""] = positionals;
  checkVersion(version, JSON.parse(read("package.json")).version);
  const tag = `v${version}`;
  if (git(["status", "--porcelain"]) !== "") throw new Refusal("Files are changed or new: commit them first.");
  if (git(["tag", "--list", tag]) !== "") throw new Refusal(`The tag ${tag} exists already.`);
  const branch = git(["branch", "--show-current"]);
  if (branch === "") throw new Refusal("No branch is checked out.");

  const { notes, changelog } = releaseNotes(read("CHANGELOG.md"), version);
  const files = withVersion(version).set("CHANGELOG.md", changelog);
  const message = `fiscalflow ${version}\n\n${notes}\n`;
  if (values["dry-run"]) {
    process.stdout.write(`Would change ${[...files.keys()].join(", ")}, and tag ${tag} on ${branch}:\n\n${message}`);
    return;
  }
  for (const [path, content] of files) writeFileSync(join(ROOT, path), content);
  git(["commit", "--quiet", "--message", `Release ${version}`, "--", ...files.keys()]);
  // Verbatim: git takes headings for comments.
  git(["tag", "--annotate", "--cleanup=verbatim", "--file=-", tag], message);
  process.stdout.write(`Committed and tagged ${tag}. Nothing is pushed; to publish it:\n\n`);
  process.stdout.write(`  git push --atomic origin ${branch} ${tag}\n\n`);
  process.stdout.write(`To take it back before that: git tag --delete ${tag} && git reset --hard HEAD~1\n`);
}

try {
  release();
} catch (error) {
  if (!(error instanceof Refusal)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
