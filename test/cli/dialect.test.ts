import { expect, onTestFinished, test } from "vitest";

import { accountingSettings } from "../../src/accounting/index.ts";
import { callCli, type CliResult } from "../../src/cli/test-support/call-cli.ts";
import { complianceSettings } from "../../src/compliance/index.ts";
import { startSimulator, type Simulator, type SimulatorOptions } from "../../src/dev/simulator/index.ts";
import { renamedDialects } from "../rig/renamed-dialect.ts";

/** Secrets, and values of answers: none is ever printed. */
const NEVER_PRINTED = [
  "cmp_sk_test_simulator",
  "sk_development_simulator",
  "cs_simulator",
  "Duka",
  "biz_1",
  "branch_1",
];

interface Printed {
  fits: boolean;
  connections: {
    service: string;
    connection: string;
    names: { path: string; configured: string | null; found: boolean | null; beside: string[] }[];
    failed?: string;
  }[];
  questions: { service: string; path: string; question: string; optional?: true }[];
}

async function simulatorOf(options: SimulatorOptions = {}): Promise<Simulator> {
  const simulator = await startSimulator(options);
  onTestFinished(() => simulator.close());
  return simulator;
}

async function dialect(
  simulator: Simulator,
  flags: readonly string[] = [],
  more: Record<string, string> = {},
): Promise<CliResult> {
  const env = {
    COMPLIANCE_BASE_URL: simulator.url,
    COMPLIANCE_API_KEY: "cmp_sk_test_simulator",
    COMPLIANCE_BUSINESS_ID: "biz_1",
    ACCOUNTING_BASE_URL: simulator.accounting.url,
    ACCOUNTING_API_KEY: "sk_development_simulator",
    ACCOUNTING_CLIENT_SECRET: "cs_simulator",
  };
  const result = await callCli(["dialect", ...flags], { env: { ...env, ...more } });
  for (const word of NEVER_PRINTED) expect(`${result.stdout}${result.stderr}`).not.toContain(word);
  return result;
}

const printed = ({ stdout }: CliResult): Printed => JSON.parse(stdout) as Printed;
const foundIn = ({ connections }: Printed) =>
  connections.flatMap(({ names }) => names.map(({ path, found }) => [path, found] as const));

test("`dialect` finds every configured name of the answers, by one call for each connection", async () => {
  const simulator = await simulatorOf();
  const result = await dialect(simulator, ["--check", "--json"]);
  expect(result.exitCode).toBe(0);
  expect(printed(result).fits).toBe(true);
  expect(foundIn(printed(result))).toEqual(
    ["list", "id", "branches", "branchId", "authorityId"]
      .map((name) => [`businesses.${name}`, true])
      .concat([["companies.list", true]]),
  );
  expect(simulator.calls().map(({ operation }) => operation)).toEqual(["listBusinesses"]);
  expect(simulator.accounting.calls().map(({ operation }) => operation)).toEqual(["listCompanies"]);
});

test("`dialect` asks the provider for each setting that no answer shows", async () => {
  const { questions, connections } = printed(await dialect(await simulatorOf(), ["--json"]));
  const shown = connections.flatMap(({ names }) => names.map(({ path }) => path));
  const all = [...complianceSettings(), ...accountingSettings()].map(({ path }) => path);
  expect([...shown, ...questions.map(({ path }) => path)].toSorted()).toEqual(all.toSorted());
  for (const { question } of questions) expect(question).toMatch(/\?$/);
});

test("`dialect --check` ends with 1 if an answer lacks a configured name, whose right one is among the other fields", async () => {
  const { compliance, accounting } = renamedDialects();
  const simulator = await simulatorOf({ dialect: compliance, accountingDialect: accounting });
  const result = await dialect(simulator, ["--check"]);
  expect(result.exitCode).toBe(1);
  expect(result.stdout).toMatch(new RegExp(`businesses\\.list +businesses +NO +${compliance.businesses.list} *\\n`));
  expect(result.stdout).toMatch(/businesses\.id +id +cannot be told *\n/);
  expect(result.stdout).toMatch(new RegExp(`companies\\.list +data +NO +${accounting.companies.list}`));
  expect(result.stdout).toContain("- businesses.list: In the answer of GET /v1/businesses, under which key stands");

  const found = { businesses: { list: compliance.businesses.list } };
  const next = await dialect(simulator, ["--json"], { COMPLIANCE_DIALECT: JSON.stringify(found) });
  expect(next.exitCode).toBe(0);
  const beside = printed(next).connections[0]?.names.find(({ path }) => path === "businesses.id")?.beside;
  expect(beside).toEqual(expect.arrayContaining([compliance.businesses.id, compliance.businesses.branches]));

  const whole = { COMPLIANCE_DIALECT: JSON.stringify(compliance), ACCOUNTING_DIALECT: JSON.stringify(accounting) };
  expect(await dialect(simulator, ["--check"], whole)).toMatchObject({ exitCode: 0 });
});

test("`dialect` takes an answer of another shape for one without the names", async () => {
  const simulator = await simulatorOf();
  simulator.inject({ operation: "listBusinesses", when: "before", kind: "status", status: 200, body: { data: [] } });
  const result = await dialect(simulator, ["--json"]);
  expect(foundIn(printed(result)).slice(0, 2)).toEqual([
    ["businesses.list", false],
    ["businesses.id", null],
  ]);
});

test("`dialect` with a dialect that cannot be used is refused with 2 before anything is sent", async () => {
  const simulator = await simulatorOf();
  const result = await dialect(simulator, [], { COMPLIANCE_DIALECT: '{"stock":{"raport":"x"}}' });
  expect(result).toMatchObject({ exitCode: 2, stdout: "", stderr: expect.stringContaining("raport") });
  expect(simulator.calls()).toEqual([]);
});

test("`dialect` prints what it found of one service if the other refuses the key, and ends with 1", async () => {
  const simulator = await simulatorOf();
  const result = await dialect(simulator, ["--json"], { ACCOUNTING_API_KEY: "sk_development_unknown" });
  expect(result).toMatchObject({
    exitCode: 1,
    stderr: expect.stringMatching(/Accounting Service, connection default: .*401/),
  });
  expect(foundIn(printed(result))).toContainEqual(["businesses.list", true]);
  expect(printed(result).connections[1]).toMatchObject({ names: [], failed: expect.stringContaining("401") });
});

test("`dialect` waits for the next window where the requests of this one are used up", async () => {
  const simulator = await simulatorOf({ limitPerWindow: 1, windowMs: 2_000 });
  const asked = (): Promise<CliResult> => dialect(simulator, ["--json"]);
  // Of the two, the second meets a window without a request, unless it ended between them.
  const [first, second] = [await asked(), await asked()];
  const answered = simulator.calls().filter(({ status }) => status === 200);
  expect([first.exitCode, second.exitCode, answered.length]).toEqual([0, 0, 2]);
  expect(second.stderr.includes("asking again in")).toBe(simulator.calls().length > 2);
});
