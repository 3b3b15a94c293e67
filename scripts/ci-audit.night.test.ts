import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";

/** The audit of CI, as the script has it. */
const [AUDIT = ""] =
  /^audit\(\) \{\n.*?^\}/ms.exec(readFileSync(resolve(import.meta.dirname, "../.ci/run"), "utf8")) ?? [];
const NOT_AUDITED = "NOT AUDITED: the registry answered no audit of what is installed";
const FAULT = {
  id: 1,
  title: "Opens the till",
  url: "https://example.org/advisories/1",
  vulnerable_versions: "<99",
  cwe: [],
  cvss: { score: 9.8, vectorString: null },
};

const folder = mkdtempSync(join(tmpdir(), "fiscalflow-audit-"));
/** What the registry answers to an audit. */
let answer: { status: number; body: object };
const registry = createServer((request, response) => {
  request.resume();
  const { status, body } = request.url?.includes("/security/") ? answer : { status: 404, body: {} };
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
});

beforeAll(async () => {
  const project = { name: "till", version: "1.0.0", dependencies: { ms: "2.1.3" } };
  const ms = { version: "2.1.3", resolved: "https://registry.npmjs.org/ms/-/ms-2.1.3.tgz" };
  const lock = { name: "till", version: "1.0.0", lockfileVersion: 3, packages: { "": project, "node_modules/ms": ms } };
  writeFileSync(join(folder, "package.json"), JSON.stringify(project));
  writeFileSync(join(folder, "package-lock.json"), JSON.stringify(lock));
  registry.listen(0, "127.0.0.1");
  await once(registry, "listening");
});

afterEach(() => rmSync(join(folder, "cache"), { recursive: true, force: true }));
afterAll(() => {
  registry.close();
  rmSync(folder, { recursive: true, force: true });
});

async function audit(env: Record<string, string>): Promise<{ status: number; output: string }> {
  const { port } = registry.address() as AddressInfo;
  const child = spawn("bash", ["-c", `set -euo pipefail\nexec 2>&1\n${AUDIT}\naudit`], {
    cwd: folder,
    env: {
      PATH: process.env["PATH"],
      HOME: folder,
      npm_config_registry: `http://127.0.0.1:${port}`,
      npm_config_cache: join(folder, "cache"),
      npm_config_fetch_retries: "0",
      npm_config_update_notifier: "false",
      ...env,
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.on("data", (text: Buffer) => (output += text.toString()));
  const [status] = (await once(child, "close")) as [number];
  return { status, output };
}

test.each([404, 500])(
  "an audit that the registry answers with %s fails on GitHub, and is said elsewhere",
  async (status) => {
    answer = { status, body: { error: "no audits here" } };
    const said = { output: expect.stringContaining(NOT_AUDITED) };
    expect(await audit({ GITHUB_ACTIONS: "true" })).toEqual({ status: 1, ...said });
    expect(await audit({})).toEqual({ status: 0, ...said });
  },
);

test("an audit that finds a high fault fails everywhere", async () => {
  answer = { status: 200, body: { ms: [{ ...FAULT, severity: "high" }] } };
  const found = { status: 1, output: expect.stringContaining("Opens the till") };
  expect(await audit({ GITHUB_ACTIONS: "true" })).toEqual(found);
  const elsewhere = await audit({});
  expect(elsewhere).toEqual(found);
  expect(elsewhere.output).not.toContain(NOT_AUDITED);
});

test.each([
  ["nothing", {}],
  ["a low fault", { ms: [{ ...FAULT, severity: "low" }] }],
])("an audit that finds %s fails nowhere", async (_, body) => {
  answer = { status: 200, body };
  expect(await audit({ GITHUB_ACTIONS: "true" })).toMatchObject({ status: 0 });
  expect(await audit({})).toMatchObject({ status: 0 });
});
