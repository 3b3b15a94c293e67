import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, expect, test } from "vitest";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** Runs it in a folder of its own, as beside docker-compose.yml. */
function makeSecrets(dotEnv: string | undefined, env: Record<string, string> = {}) {
  const folder = mkdtempSync(join(tmpdir(), "fiscalflow-secrets-"));
  folders.push(folder);
  mkdirSync(join(folder, "deploy"));
  const script = join(folder, "deploy/make-secrets");
  copyFileSync(resolve(import.meta.dirname, "../deploy/make-secrets"), script);
  if (dotEnv !== undefined) writeFileSync(join(folder, ".env"), dotEnv);
  const path = process.env["PATH"] ?? "";
  const run = spawnSync("bash", [script], { env: { PATH: path, ...env }, input: "cmp_sk_test_a\n", encoding: "utf8" });
  const wrote = (name: string): boolean => existsSync(join(folder, name, "ledger-owner-url"));
  return { ...run, wrote };
}

test.each([
  ["no .env", undefined, {}, "secrets"],
  [".env without it", "COMPLIANCE_BUSINESS_ID=biz_1\n#FISCALFLOW_SECRETS=./never\n", {}, "secrets"],
  [".env", "FISCALFLOW_SECRETS=./ours\n", {}, "ours"],
  [".env, in quotes", "export FISCALFLOW_SECRETS = './of ours' # here\r\n", {}, "of ours"],
  [".env, with a remark", "FISCALFLOW_SECRETS=./first\nFISCALFLOW_SECRETS=./ours # here\n", {}, "ours"],
  ["the environment before .env", "FISCALFLOW_SECRETS=./ours\n", { FISCALFLOW_SECRETS: "./theirs" }, "theirs"],
])("secrets are made where compose looks for them: %s", (_what, dotEnv, env, folder) => {
  const { status, stderr, wrote } = makeSecrets(dotEnv, env);
  expect({ status, stderr, wrote: wrote(folder) }).toEqual({ status: 0, stderr: "", wrote: true });
});

test("a folder that only compose can work out is refused, and nothing is made", () => {
  const { status, stderr, wrote } = makeSecrets("FISCALFLOW_SECRETS=${HOME}/ours\n");
  expect({ status, wrote: wrote("secrets") }).toEqual({ status: 2, wrote: false });
  expect(stderr).toContain("FISCALFLOW_SECRETS in .env");
});
