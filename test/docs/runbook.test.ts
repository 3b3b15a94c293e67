import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

import { callCli, NO_TEMPORAL } from "../../src/cli/test-support/call-cli.ts";
import { ATTENTION_CODES, RESOLVED_BY } from "../../src/contract/index.ts";

const PAGE = new URL("../../docs/runbook.md", import.meta.url);
const page = await readFile(fileURLToPath(PAGE), "utf8");
const rows = page.split("\n").filter((line) => line.startsWith("| `"));

test("docs/runbook.md has every attention code with each update that resolves it", () => {
  const missing = ATTENTION_CODES.flatMap((code) => {
    const row = rows.find((line) => (line.split("|")[1] ?? "").includes(`\`${code}\``)) ?? "";
    return RESOLVED_BY[code].filter((update) => !row.includes(`\`${update}\``)).map((update) => `${code}: ${update}`);
  });
  expect(missing).toEqual([]);
});

test("the JSON of every update in docs/runbook.md is valid", () => {
  const payloads = [...page.matchAll(/`(\{[^`]+\})`/g)].map(([, json = ""]) => json);
  expect(payloads.length).toBeGreaterThan(10);
  for (const json of payloads) expect(JSON.parse(json)).toEqual(expect.any(Object));
});

test("every command in docs/runbook.md is valid: it gets as far as Temporal, which is away here", async () => {
  const env = {
    ...NO_TEMPORAL,
    COMPLIANCE_BASE_URL: "http://127.0.0.1:9",
    COMPLIANCE_API_KEY: "cmp_sk_test_nobody",
    COMPLIANCE_BUSINESS_ID: "biz_1",
  };
  const commands = [...page.matchAll(/^npx fiscalflow (.+)$/gm)].map(([, command = ""]) => command);
  expect(commands.length).toBeGreaterThan(8);
  for (const command of commands) {
    const words = [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");
    const { exitCode, stderr } = await callCli(words, { env });
    expect({ command, exitCode, stderr }).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("ECONNREFUSED"),
    });
  }
});
