import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

import { callCli, type CliResult } from "../../src/cli/test-support/call-cli.ts";
import { startSimulator, type Simulator, type SimulatorOptions } from "../../src/dev/simulator/index.ts";
import { purchaseOf } from "../rig/purchases.ts";
import { leavesOf, renamedDialects } from "../rig/renamed-dialect.ts";

/** Everything that must never be printed. */
const PEOPLE = [
  "Mwangi Millers",
  "P051234567M",
  "Achieng Otieno",
  "A001234567Z",
  "254711222333",
  "achieng@example.com",
];
const SECRETS = ["cmp_sk_test_simulator", "sk_development_simulator", "cs_simulator"];

const SCENARIO = {
  purchases: [1, 2, 3].map((n) => purchaseOf(n, { supplier: { name: "Mwangi Millers", pin: "P051234567M" } })),
  sales: [
    {
      businessId: "biz_1",
      traderInvoiceNumber: "OLD-1",
      customer: { name: "Achieng Otieno", pin: "A001234567Z", phone: "+254711222333", email: "achieng@example.com" },
      lines: [{ itemId: "item_tea", quantity: 1, description: null }],
    },
  ],
  accounting: { generatedBillPayments: 30 },
};
/** The document shows them; the others it does not. */
const DOCUMENTED_PATHS = { "createSale.path": "/v1/sales", "pull.path": "/v1/purchases/pull" };
/** No call shows them. */
const ONLY_ASKED = ["errors.", "createItem", "receiptDownload", "identity", "lookups", "webhook."];
/** Either value fits the simulator: it takes both ids of a branch, and honours the key whatever its dialect says. */
const EITHER_FITS = ["register.branchBy", "createSale.idempotencyKey"];

interface ServiceResult {
  service: string;
  fits: boolean;
  calls: number;
  ended?: string;
  settings: { path: string; verdict: string; found?: unknown; evidence: string }[];
  questions: { path: string; question: string; optional: boolean }[];
  dialect: Record<string, unknown>;
  writes: { what: string; number: string; outcome: string; id?: string; detail?: string }[];
}

async function simulatorOf(options: SimulatorOptions = {}): Promise<Simulator> {
  const simulator = await startSimulator({ limitPerWindow: 100_000, scenario: SCENARIO, ...options });
  onTestFinished(() => simulator.close());
  return simulator;
}

/** Every name changed to a plausible one, the documented paths apart. */
async function renamedSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const { compliance, accounting } = renamedDialects();
  const dialect = {
    ...compliance,
    createSale: { ...compliance.createSale, path: DOCUMENTED_PATHS["createSale.path"] },
    pull: { ...compliance.pull, path: DOCUMENTED_PATHS["pull.path"] },
  };
  return simulatorOf({ dialect, accountingDialect: accounting, ...options });
}

function environment(simulator: Simulator): Record<string, string> {
  return {
    COMPLIANCE_BASE_URL: simulator.url,
    COMPLIANCE_API_KEY: "cmp_sk_test_simulator",
    COMPLIANCE_BUSINESS_ID: "biz_1",
    ACCOUNTING_BASE_URL: simulator.accounting.url,
    ACCOUNTING_API_KEY: "sk_development_simulator",
    ACCOUNTING_CLIENT_SECRET: "cs_simulator",
  };
}

async function dialect(
  simulator: Simulator,
  flags: readonly string[],
  env: Record<string, string> = {},
): Promise<CliResult> {
  const result = await callCli(["dialect", ...flags], { env: { ...environment(simulator), ...env } });
  for (const word of [...PEOPLE, ...SECRETS]) {
    expect(result.stdout).not.toContain(word);
    expect(result.stderr).not.toContain(word);
  }
  return result;
}

function servicesOf({ stdout }: CliResult): Record<"compliance" | "accounting", ServiceResult> {
  const { services } = JSON.parse(stdout) as { services: ServiceResult[] };
  const of = (name: string): ServiceResult => {
    const found = services.find(({ service }) => service === name);
    if (found === undefined) throw new Error(`no ${name} in ${stdout}`);
    return found;
  };
  return { compliance: of("compliance"), accounting: of("accounting") };
}

const verdictsOf = ({ settings }: ServiceResult): Map<string, string> =>
  new Map(settings.map(({ path, verdict }) => [path, verdict]));
const foundBy = ({ settings }: ServiceResult): Map<string, unknown> =>
  new Map(settings.flatMap(({ path, found }) => (found === undefined ? [] : [[path, found] as const])));
const isOnlyAsked = (path: string): boolean => ONLY_ASKED.some((prefix) => path.startsWith(prefix));

test("`dialect` finds that the default dialect fits, and writes nothing without being told to", async () => {
  const simulator = await simulatorOf();
  const before = simulator.books();
  const result = await dialect(simulator, ["--check", "--json"]);
  expect(result.exitCode).toBe(0);
  const { compliance, accounting } = servicesOf(result);
  for (const { fits, dialect: printed, settings } of [compliance, accounting]) {
    expect({ fits, printed }).toEqual({ fits: true, printed: {} });
    expect(settings.filter(({ verdict }) => verdict !== "fits" && verdict !== "open")).toEqual([]);
  }
  expect(verdictsOf(compliance).get("purchases.cursor")).toBe("fits");
  const { documents, movements } = simulator.books();
  expect({ documents, movements }).toEqual({ documents: before.documents, movements: before.movements });
  expect(simulator.calls().filter(({ operation }) => operation === "createSale")).toEqual([]);
});

test.each([
  ["refuses unknown names", true],
  ["ignores unknown names", false],
])("`dialect --write` finds every plausible name of a service that %s", async (_how, refuses) => {
  const simulator = await renamedSimulator({ refuseUnknownFields: refuses });
  simulator.accounting.changeSettings({ refuseUnknownInputs: refuses });
  const { compliance: renamed, accounting: renamedAccounting } = renamedDialects();
  const result = await dialect(simulator, ["--write", "--yes", "--json"]);
  expect(result.exitCode).toBe(0);
  const { compliance, accounting } = servicesOf(result);
  const expected = new Map([...leavesOf(renamed), ...Object.entries(DOCUMENTED_PATHS)]);
  for (const [service, wanted] of [
    [compliance, expected],
    [accounting, new Map(leavesOf(renamedAccounting))],
  ] as const) {
    const found = foundBy(service);
    const missed = [...wanted].filter(
      ([path, value]) => !isOnlyAsked(path) && !EITHER_FITS.includes(path) && found.get(path) !== value,
    );
    expect(missed).toEqual([]);
    expect(service.questions.map(({ path }) => path).filter((path) => !isOnlyAsked(path))).toEqual([]);
  }
});

test("`dialect --write` makes one sale, one credit note and one movement, and its searches make nothing", async () => {
  const simulator = await renamedSimulator();
  const before = simulator.books();
  const { compliance } = servicesOf(
    await dialect(simulator, ["--write", "--yes", "--json", "--service", "compliance"]).then(both),
  );
  const made = simulator.books().documents.slice(before.documents.length);
  expect(compliance.writes.map(({ what, outcome }) => [what, outcome])).toEqual([
    ["sale", "made"],
    ["credit note", "made"],
    ["stock movement", "made"],
  ]);
  expect(made.map(({ type, traderInvoiceNumber }) => [type, traderInvoiceNumber])).toEqual([
    ["sale", compliance.writes[0]?.number],
    ["credit_note", compliance.writes[1]?.number],
  ]);
  expect(compliance.writes[0]?.number).toMatch(/^DIALECT-\d{8}-[0-9a-f]{8}$/);
  expect(simulator.books().movements).toMatchObject([{ itemId: "item_tea", quantity: 1, action: "ADD" }]);
});

/** The result of one service alone, as if the other had been asked. */
function both(result: CliResult): CliResult {
  const { fits, services } = JSON.parse(result.stdout) as { fits: boolean; services: ServiceResult[] };
  const other = { service: "accounting" } as ServiceResult;
  return { ...result, stdout: JSON.stringify({ fits, services: [...services, other] }) };
}

test("`dialect --write` finds or asks for each setting of a service with unguessable names", async () => {
  const { compliance: renamed, accounting: renamedAccounting } = renamedDialects("strange");
  const simulator = await simulatorOf({ dialect: renamed, accountingDialect: renamedAccounting });
  const result = await dialect(simulator, ["--write", "--yes", "--json", "--check"]);
  expect(result.exitCode).toBe(1);
  const { compliance, accounting } = servicesOf(result);
  for (const [service, wanted] of [
    [compliance, renamed],
    [accounting, renamedAccounting],
  ] as const) {
    const found = foundBy(service);
    const asked = new Set(service.questions.map(({ path }) => path));
    const missed = leavesOf(wanted).filter(
      ([path, value]) => !asked.has(path) && !EITHER_FITS.includes(path) && found.get(path) !== value,
    );
    expect(missed).toEqual([]);
    for (const { question } of service.questions) expect(question).toMatch(/\?$/);
  }
  expect(foundBy(compliance).get("stock.report")).toBe(renamed.stock.report);
  expect(foundBy(compliance).get("businesses.branches")).toBe(renamed.businesses.branches);
});

test("`dialect --check` ends with 1 where a configured name does not fit, and says which", async () => {
  const simulator = await simulatorOf();
  const env = {
    COMPLIANCE_DIALECT: '{"purchases":{"status":"reviewed"}}',
    ACCOUNTING_DIALECT: '{"billPayments":{"limit":"count"}}',
  };
  const result = await dialect(simulator, ["--check"], env);
  expect(result.exitCode).toBe(1);
  expect(result.stdout).toMatch(/purchases\.status +reviewed +status +differs/);
  expect(result.stdout).toMatch(/billPayments\.limit +count +limit +differs/);
});

test("`dialect` proposes a configuration that the configuration check accepts", async () => {
  const simulator = await renamedSimulator();
  const { compliance, accounting } = servicesOf(await dialect(simulator, ["--write", "--yes", "--json"]));
  const env = {
    COMPLIANCE_DIALECT: JSON.stringify(compliance.dialect),
    ACCOUNTING_DIALECT: JSON.stringify(accounting.dialect),
  };
  const again = await dialect(simulator, ["--write", "--yes", "--json", "--check"], env);
  expect(again.exitCode).toBe(0);
  expect(servicesOf(again).compliance.dialect).toEqual(compliance.dialect);
});

test.each([
  ["with a live key", ["--write", "--yes"], { COMPLIANCE_API_KEY: "cmp_sk_live_simulator" }, "live key"],
  ["with nobody to ask", ["--write"], {}, "--yes"],
  ["with a connection that there is not", ["--connection", "shop"], {}, "default (compliance)"],
  ["with a dialect that cannot be used", [], { COMPLIANCE_DIALECT: '{"stock":{"raport":"x"}}' }, "raport"],
])("`dialect` %s is refused with 2 before anything is sent", async (_what, flags, env, said) => {
  const simulator = await simulatorOf();
  const result = await dialect(simulator, flags, env);
  expect({ exitCode: result.exitCode, stdout: result.stdout }).toEqual({ exitCode: 2, stdout: "" });
  expect(result.stderr).toContain(said);
  expect(simulator.calls()).toEqual([]);
});

test("`dialect` with a key that the service does not know ends with 1 and says so", async () => {
  const simulator = await simulatorOf();
  const result = await dialect(simulator, [], { COMPLIANCE_API_KEY: "cmp_sk_test_unknown" });
  expect(result.exitCode).toBe(1);
  expect(result.stderr).toContain("401");
});

test("`dialect` prints what it found of one service where the other refuses the key", async () => {
  const simulator = await simulatorOf();
  const result = await dialect(simulator, ["--json"], { ACCOUNTING_API_KEY: "sk_development_unknown" });
  expect(result.exitCode).toBe(1);
  expect(result.stderr).toContain("accounting connection default failed");
  const { compliance, accounting } = servicesOf(result);
  expect(verdictsOf(compliance).get("purchases.cursor")).toBe("fits");
  expect(accounting).toMatchObject({ fits: false, ended: expect.stringContaining("401") });
});

test("`dialect --write` prints what it found where no item can be sold", async () => {
  const simulator = await simulatorOf();
  const result = await dialect(simulator, ["--write", "--yes", "--item", "item_nobody_has"]);
  expect(result.exitCode).toBe(1);
  expect(result.stdout).toMatch(/The search ended early: There is no item item_nobody_has\. .*--item\.\n/);
  expect(result.stdout).toMatch(/purchases\.cursor +cursor +cursor +fits/);
});

test("`dialect --write` reports the sale that it made where the next call fails", async () => {
  const simulator = await simulatorOf();
  const body = { error: { code: "unauthorized", message: "The key was revoked" } };
  simulator.inject({ operation: "creditNote", when: "before", kind: "status", status: 401, body });
  const result = await dialect(simulator, ["--write", "--yes", "--json", "--service", "compliance"]);
  expect(result.exitCode).toBe(1);
  const { compliance } = servicesOf(both(result));
  expect(compliance.writes).toMatchObject([{ what: "sale", outcome: "made" }]);
  expect(compliance).toMatchObject({ fits: false, ended: expect.stringContaining("401") });
  expect(verdictsOf(compliance).get("createSale.fields.lines")).toBe("fits");
});

test("`dialect` asks which connection is meant where several could be", async () => {
  const simulator = await simulatorOf();
  simulator.setKey("cmp_sk_test_south", { application: "simulator" });
  const folder = await mkdtemp(join(tmpdir(), "fiscalflow-dialect-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const baseUrl = simulator.url;
  const file = {
    compliance: {
      north: { baseUrl, apiKey: { env: "NORTH_KEY" }, businessId: "biz_1" },
      south: { baseUrl, apiKey: { env: "SOUTH_KEY" }, businessId: "biz_2" },
    },
    accounting: { default: { baseUrl: simulator.accounting.url, apiKey: { env: "ACCOUNTING_KEY" } } },
  };
  const path = join(folder, "config.json");
  await writeFile(path, JSON.stringify(file));
  const env = {
    FISCALFLOW_CONFIG: path,
    NORTH_KEY: "cmp_sk_test_simulator",
    SOUTH_KEY: "cmp_sk_test_south",
    ACCOUNTING_KEY: "sk_development_simulator",
  };
  const unclear = await callCli(["dialect"], { env });
  expect(unclear).toMatchObject({ exitCode: 2, stdout: "" });
  expect(unclear.stderr).toMatch(/compliance connections are configured: north, south.*--connection/);
  expect(simulator.calls()).toEqual([]);
  expect(await callCli(["dialect", "--connection", "north"], { env })).toMatchObject({ exitCode: 0, stderr: "" });
  expect(await callCli(["dialect", "--service", "accounting"], { env })).toMatchObject({ exitCode: 0, stderr: "" });
});

test("`dialect --write` reports a sale whose answer is lost, and never sends it again", async () => {
  const flags = ["--write", "--yes", "--json", "--service", "compliance"];
  const undisturbed = await simulatorOf();
  await dialect(undisturbed, flags);
  // The last call repeats the sale's key; the one before it is the sale.
  const searches = undisturbed.calls().filter(({ operation }) => operation === "createSale").length - 2;
  const simulator = await simulatorOf();
  simulator.inject({ operation: "createSale", when: "after", kind: "drop", skip: searches });
  const { writes } = servicesOf(both(await dialect(simulator, flags))).compliance;
  expect(writes.map(({ what, outcome }) => [what, outcome])).toEqual([
    ["sale", "unknown"],
    ["credit note", "not sent"],
    ["stock movement", "made"],
  ]);
  expect(simulator.documents(writes[0]?.number)).toHaveLength(1);
  expect(simulator.calls().filter(({ operation }) => operation === "createSale")).toHaveLength(searches + 1);
});

test("`dialect --write` stops where the service creates a sale of an item that does not exist", async () => {
  const simulator = await simulatorOf();
  const accepted = { data: { movementId: "movement_odd", itemId: "x", branchId: "branch_1", quantityOnHand: 1 } };
  simulator.inject({ operation: "adjustStock", when: "before", kind: "status", status: 201, body: accepted });
  const result = await dialect(simulator, ["--write", "--yes", "--json", "--service", "compliance"]);
  const { writes } = servicesOf(both(result)).compliance;
  expect(writes.at(-1)).toMatchObject({ what: "stock movement", outcome: "unknown" });
  expect(simulator.calls().filter(({ operation }) => operation === "adjustStock")).toHaveLength(1);
});

test("`dialect` asks a key that is bound to one business without naming a business", async () => {
  const applications = [{ name: "bound", keys: [{ key: "cmp_sk_test_simulator", businessId: "biz_1" }] }];
  const simulator = await simulatorOf({ scenario: { ...SCENARIO, applications } });
  const env = { COMPLIANCE_KEY_REACH: "business" };
  const result = await dialect(simulator, ["--write", "--yes", "--json", "--check"], env);
  expect(result.exitCode).toBe(0);
  const { settings, writes } = servicesOf(result).compliance;
  expect(writes.map(({ outcome }) => outcome)).toEqual(["made", "made", "made"]);
  expect(settings.find(({ path }) => path === "retry.businessIdIn")?.evidence).toContain("bound to one business");
});

test("`dialect` waits where the requests of the minute are used up, and leaves a part of them to the worker", async () => {
  const simulator = await simulatorOf({ limitPerWindow: 20, windowMs: 1_000 });
  const result = await dialect(simulator, ["--service", "compliance"]);
  expect(result.exitCode).toBe(0);
  const { windows, calls } = simulator.books();
  expect(calls.rateLimited).toBe(0);
  expect(Math.max(...windows.map(({ used }) => used))).toBeLessThanOrEqual(15);
});
