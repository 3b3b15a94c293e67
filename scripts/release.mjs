// Makes a release in this repository, and pushes nothing:
//   npm run release -- 1.0.0 --dry-run
//   npm run release -- 1.0.0
// Before a tag is published, refuses one that is not what the files say; prints what the changelog says of it:
//   node scripts/release.mjs --check v1.0.0
// After it is published, keeps its packed file, from which the next release rehearses an upgrade:
//   npm pack fiscalflow@1.0.0 && node scripts/release.mjs --keep fiscalflow-1.0.0.tgz
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { parseArgs } from "node:util";

const ROOT = resolve(import.meta.dirname, "..");
const UPGRADE = "### What an upgrade needs";
/** The names of objects, which take no dots, carry the version too; addresses and images, the tag. */
const KUBERNETES = [
  "deploy/kubernetes/base/kustomization.yaml",
  "deploy/kubernetes/base/version/kustomization.yaml",
  "deploy/kubernetes/example/kustomization.yaml",
  "docs/kubernetes.md",
];

/** What each later release of the same major version keeps, and what the tests say of it. */
const PROMISES = { next: "test/promises/next-release.txt", last: "test/promises/last-release.txt" };

class Refusal extends Error {}

/** @param {string} path */
const read = (path) => readFileSync(join(ROOT, path), "utf8");

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
    const text = read(path)
      .replaceAll(/"\d+\.\d+\.\d+"/g, `"${version}"`)
      .replaceAll(/(nameSuffix: )-\d+-\d+-\d+\n/g, `$1-${version.replaceAll(".", "-")}\n`)
      .replaceAll(/(\?ref=|fiscalflow:)v\d+\.\d+\.\d+/g, `$1v${version}`);
    texts.set(path, text);
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

/** What is told of a version to come would be published with it. @param {string} version */
function checkPromises(version) {
  const minor = version.replace(/\.\d+$/, "");
  const until = new RegExp(`[Uu]ntil ${minor.replace(".", "\\.")} is (published|released)`);
  const named = git(["ls-files", "*.md"])
    .split("\n")
    .filter((path) => until.test(read(path)));
  if (named.length > 0) throw new Refusal(`Say first what holds once ${minor} is published: ${named.join(", ")}.`);
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

/** @param {string} path of a packed file whose tag this repository has */
function keep(path) {
  const manifest = execFileSync("tar", ["-xOf", path, "package/package.json"], { encoding: "utf8" });
  const { name, version } = JSON.parse(manifest);
  if (name !== "fiscalflow") throw new Refusal(`${path} is the package ${name}.`);
  const names = execFileSync("tar", ["-tf", path], { encoding: "utf8" }).split("\n");
  if (!names.includes("package/dist/workflow-bundle.cjs")) throw new Refusal(`${path} was packed before it was built.`);
  const tag = `v${version}`;
  if (git(["tag", "--list", tag]) === "") throw new Refusal(`There is no tag ${tag}.`);
  const file = basename(path);
  const kept = "test/rehearsal/last-release.json";
  const before = JSON.parse(read(kept));
  copyFileSync(path, join(ROOT, "test/rehearsal", file));
  if (before.file !== file) rmSync(join(ROOT, "test/rehearsal", before.file));
  const sha256 = createHash("sha256").update(readFileSync(path)).digest("hex");
  const now = { file, version, commit: git(["rev-parse", `${tag}^{commit}`]), sha256 };
  writeFileSync(join(ROOT, kept), `${JSON.stringify(now, null, 2)}\n`);
  process.stdout.write(`Kept ${file} in place of ${before.file}: commit test/rehearsal.\n`);
}

function release() {
  const { values, positionals } = parseArgs({
    options: { "dry-run": { type: "boolean" }, check: { type: "string" }, keep: { type: "string" } },
    allowPositionals: true,
  });
  if (values.check !== undefined) {
    process.stdout.write(`${releasedNotes(values.check)}\n`);
    return;
  }
  if (values.keep !== undefined) {
    keep(values.keep);
    return;
  }
  const [version = ""] = positionals;
  checkVersion(version, JSON.parse(read("package.json")).version);
  const tag = `v${version}`;
  if (git(["status", "--porcelain"]) !== "") throw new Refusal("Files are changed or new: commit them first.");
  if (git(["tag", "--list", tag]) !== "") throw new Refusal(`The tag ${tag} exists already.`);
  const branch = git(["branch", "--show-current"]);
  if (branch === "") throw new Refusal("No branch is checked out.");
  checkPromises(version);

  const { notes, changelog } = releaseNotes(read("CHANGELOG.md"), version);
  const files = withVersion(version)
    .set("CHANGELOG.md", changelog)
    .set(PROMISES.last, `fiscalflow ${version}\n${read(PROMISES.next)}`);
  const message = `fiscalflow ${version}\n\n${notes}\n`;
  if (values["dry-run"]) {
    process.stdout.write(`Would change ${[...files.keys()].join(", ")}, and tag ${tag} on ${branch}:\n\n${message}`);
    return;
  }
  const before = git(["rev-parse", "HEAD"]);
  try {
    for (const [path, content] of files) writeFileSync(join(ROOT, path), content);
    git(["add", "--", PROMISES.last]);
    git(["commit", "--quiet", "--message", `Release ${version}`, "--", ...files.keys()]);
    // Verbatim: git takes headings for comments.
    git(["tag", "--annotate", "--cleanup=verbatim", "--file=-", tag], message);
  } catch (error) {
    // Nothing was changed before, so nothing else is lost; and the release can be made again.
    git(["reset", "--quiet", "--hard", before]);
    git(["clean", "--quiet", "--force", "--", PROMISES.last]);
    throw new Refusal(`git has refused the release, and all is as it was: ${/** @type {Error} */ (error).message}`);
  }
  process.stdout.write(`Committed and tagged ${tag}. Nothing is pushed; to publish it:\n\n`);
  process.stdout.write(`  git push --atomic origin ${branch} ${tag}\n\n`);
  process.stdout.write("Once it is published, keep it for the rehearsal of the next upgrade:\n\n");
  process.stdout.write(
    `  npm pack fiscalflow@${version} && node scripts/release.mjs --keep fiscalflow-${version}.tgz\n\n`,
  );
  process.stdout.write(`To take it back before that: git tag --delete ${tag} && git reset --hard HEAD~1\n`);
}

try {
  release();
} catch (error) {
  if (!(error instanceof Refusal)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
