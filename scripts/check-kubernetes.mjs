// Checks deploy/kubernetes by tools, which it fetches once into the cache folder: what kustomize builds of each of
// its folders must be valid Kubernetes (kubernetes-validate --strict) and without a finding (checkov). Then it breaks
// copies, and each tool must refuse its own:
//   npm run check:kubernetes
// What the manifests say of the product, scripts/kubernetes.test.ts holds.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join, resolve } from "node:path";

const MANIFESTS = resolve(import.meta.dirname, "../deploy/kubernetes");
const TARGETS = ["base", "example", "erasure"];
const KUSTOMIZE = "sigs.k8s.io/kustomize/kustomize/v5@v5.7.1";
const PYTHON_TOOLS = { "kubernetes-validate": "1.37.0", checkov: "3.3.30" };
/** The oldest that the documentation names, and the newest that kubernetes-validate knows. */
const KUBERNETES = ["1.29", "1.37"];
/** What an annotation of the manifests may switch off, with its reason there. */
const SKIPPED = ["CKV_K8S_40", "CKV_K8S_43"];

/** The tool that must refuse each copy; those before it must not. */
const BREAKS = [
  {
    what: "a resource that does not exist",
    file: "base/kustomization.yaml",
    from: "- receiver.yaml",
    to: "- receivers.yaml",
    refusedBy: "kustomize",
    because: "receivers.yaml",
  },
  {
    what: "a misspelt field",
    file: "base/version/worker.yaml",
    from: "terminationGracePeriodSeconds:",
    to: "terminationGracePeriodSecond:",
    refusedBy: "kubernetes-validate",
    because: "terminationGracePeriodSecond",
  },
  {
    what: "a privileged container",
    file: "base/receiver.yaml",
    from: "allowPrivilegeEscalation: false",
    to: "privileged: true",
    refusedBy: "checkov",
    because: "CKV_K8S_16",
  },
];

class Refusal extends Error {
  /** @param {string} tool @param {string} reason */
  constructor(tool, reason) {
    super(`${tool}: ${reason}`);
    this.tool = tool;
  }
}

/** @param {string} line */
const say = (line) => process.stdout.write(`${line}\n`);

/**
 * What a command prints. @throws Refusal by the name of the tool
 * @param {string} tool @param {string} command @param {readonly string[]} args @param {NodeJS.ProcessEnv} [env]
 */
function run(tool, command, args, env = process.env) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: "utf8", env, maxBuffer: 64 << 20 });
  if (status === 0) return stdout;
  // What kubernetes-validate has nothing against.
  const lines = `${stdout}${stderr}`.split("\n").filter((line) => !line.startsWith("INFO "));
  throw new Refusal(tool, error?.message ?? lines.join("\n").trim());
}

/**
 * A folder of the cache, made once. Under another name until it is whole, so that a half-made one is not taken for it.
 * @param {string} name @param {(folder: string) => void} make
 */
function cached(name, make) {
  const { FISCALFLOW_CACHE, XDG_CACHE_HOME } = process.env;
  const cache = FISCALFLOW_CACHE || join(XDG_CACHE_HOME || join(homedir(), ".cache"), "fiscalflow");
  const place = join(cache, name);
  if (existsSync(place)) return place;
  say(`fetching ${name}`);
  mkdirSync(cache, { recursive: true });
  const half = mkdtempSync(`${place}.making-`);
  try {
    make(half);
    renameSync(half, place);
  } finally {
    rmSync(half, { recursive: true, force: true });
  }
  return place;
}

function findTools() {
  const versions = Object.entries(PYTHON_TOOLS);
  const kustomize = cached(`kustomize-${KUSTOMIZE.split("@").at(-1)}`, (folder) => {
    run("go", "go", ["install", KUSTOMIZE], { ...process.env, GOBIN: folder });
  });
  const python = cached(versions.map(([name, version]) => `${name}-${version}`).join("-"), (folder) => {
    run("python3", "python3", ["-m", "venv", folder]);
    const wanted = versions.map(([name, version]) => `${name}==${version}`);
    run("pip", join(folder, "bin/python"), [
      "-m",
      "pip",
      "install",
      "--quiet",
      "--disable-pip-version-check",
      ...wanted,
    ]);
  });
  return { kustomize: join(kustomize, "kustomize"), python: join(python, "bin/python") };
}

/**
 * What is read of checkov's report.
 * @typedef {{ check_id: string, check_name: string, resource: string, check_result: { suppress_comment?: string } }} Finding
 * @typedef {{ passed: number, failed: number, skipped: number, parsing_errors: number }} Summary
 * @typedef {{ summary: Summary, results: { failed_checks: Finding[], skipped_checks: Finding[] } }} Report
 */

/**
 * Builds one kustomization, and has both tools judge it. @throws Refusal
 * @param {ReturnType<typeof findTools>} tools @param {string} folder @param {string} scratch
 */
function check({ kustomize, python }, folder, scratch) {
  const built = join(scratch, "built.yaml");
  writeFileSync(built, run("kustomize", kustomize, ["build", folder]));
  let valid = "";
  for (const version of KUBERNETES)
    valid = run("kubernetes-validate", python, ["-m", "kubernetes_validate", "--strict", "-k", version, built]);
  // Without --skip-download it asks its makers for rules.
  const scan = ["-m", "checkov.main", "--file", built, "--framework", "kubernetes", "--skip-download"];
  /** @type {Report} */
  const report = JSON.parse(run("checkov", python, [...scan, "--compact", "--output", "json", "--soft-fail"]));
  const { passed, failed, skipped, parsing_errors: unread } = report.summary;
  const { failed_checks: findings, skipped_checks: switchedOff } = report.results;
  if (failed > 0 || unread > 0 || passed === 0) {
    const lines = findings.map(({ check_id: id, check_name: name, resource }) => `  ${id} ${resource}: ${name}`);
    throw new Refusal("checkov", [`${failed} failed, ${passed} passed, ${unread} not read`, ...lines].join("\n"));
  }
  for (const { check_id: id, resource, check_result: result } of switchedOff)
    if (!SKIPPED.includes(id) || !result.suppress_comment)
      throw new Refusal("checkov", `${id} of ${resource} is skipped, and only ${SKIPPED.join(" and ")} may be`);
  const objects = valid.split("\n").filter((line) => line.includes(" passed for resource ")).length;
  if (objects === 0) throw new Refusal("kubernetes-validate", "no object was validated");
  return `${objects} objects valid in Kubernetes ${KUBERNETES.join(" and ")}; checkov: ${passed} passed, ${failed} failed, ${skipped} skipped with a reason`;
}

/**
 * A copy of the manifests with one thing wrong. @throws Error unless the right tool refuses it
 * @param {ReturnType<typeof findTools>} tools @param {(typeof BREAKS)[number]} wrong @param {string} scratch
 */
function mustBeRefused(tools, { what, file, from, to, refusedBy, because }, scratch) {
  const copy = join(scratch, "broken");
  rmSync(copy, { recursive: true, force: true });
  cpSync(MANIFESTS, copy, { recursive: true });
  const text = readFileSync(join(copy, file), "utf8");
  if (!text.includes(from)) throw new Error(`${file} has no \`${from}\`, which ${what} would replace`);
  writeFileSync(join(copy, file), text.replace(from, to));
  try {
    check(tools, join(copy, "base"), scratch);
  } catch (error) {
    if (error instanceof Refusal && error.tool === refusedBy && error.message.includes(because)) {
      say(`${what} is refused by ${refusedBy}`);
      return;
    }
    throw error;
  }
  throw new Error(`${what} is not refused; expected that ${refusedBy} refuses it`);
}

const scratch = mkdtempSync(join(tmpdir(), "fiscalflow-kubernetes-"));
try {
  const tools = findTools();
  for (const target of TARGETS) say(`${target}: ${check(tools, join(MANIFESTS, target), scratch)}`);
  for (const wrong of BREAKS) mustBeRefused(tools, wrong, scratch);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
