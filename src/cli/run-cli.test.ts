import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";

import packageJson from "../../package.json" with { type: "json" };
import { callCli, NO_TEMPORAL } from "./test-support/call-cli.ts";
import { COMMANDS } from "./test-support/random-calls.ts";

const COMPLIANCE = {
  COMPLIANCE_BASE_URL: "http://127.0.0.1:9",
  COMPLIANCE_API_KEY: "cmp_sk_test_nobody",
  COMPLIANCE_BUSINESS_ID: "biz_1",
};
const SALE = '{"traderInvoiceNumber":"INV-1","lines":[{"sku":"TEA","quantity":1,"unitPrice":1}]}';

describe("help", () => {
  test.each(COMMANDS)("of %s %s goes to standard output, has an example, and ends with 0", async (...command) => {
    const { exitCode, stdout, stderr } = await callCli([...command.filter(Boolean), "--help"]);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/Example/);
    expect(stdout).toMatch(new RegExp(`Usage: fiscalflow ${command.filter(Boolean).join(" ")}`));
    expect(stderr).toBe("");
  });

  test("lists exactly the existing commands", async () => {
    const { stdout } = await callCli(["--help"]);
    const listed = [...stdout.matchAll(/^ {2}([a-z][a-z-]+)/gm)].map(([, name]) => name);
    const work = [
      "sale",
      "receipt",
      "items",
      "purchases",
      "bill-payments",
      "batch",
      "reconcile",
      "jobs",
      "report",
      "documents",
      "events",
      "ledger",
    ];
    const running = [
      "worker",
      "callbacks",
      "codec",
      "setup",
      "recover",
      "doctor",
      "replay",
      "dialect",
      "identity",
      "lookups",
    ];
    expect(listed).toEqual([...running, ...work, "demo", "simulator", "help", "fiscalflow"]);
  });

  test("shows the package's version", async () => {
    expect(await callCli(["--version"])).toEqual({ exitCode: 0, stdout: `${packageJson.version}\n`, stderr: "" });
  });
});

describe("a wrong call ends with 2, says why on standard error, and prints no result", () => {
  const cases: [string, string[], RegExp][] = [
    ["no command", [], /Usage: fiscalflow/],
    ["an unknown subcommand", ["items", "list"], /unknown command 'list'/],
    ["an unknown period", ["report", "year"], /unknown command 'year'/],
    ["an unknown command", ["sail"], /unknown command 'sail'[^]*Did you mean sale\?/],
    ["an unknown flag", ["doctor", "--jsn"], /unknown option '--jsn'/],
    ["a missing argument", ["sale", "show"], /missing required argument 'invoice'/],
    ["one argument too many", ["sale", "show", "A", "B"], /too many arguments/],
    ["an empty number", ["sale", "show", ""], /Expected at least 1 character/],
    ["a bad connection", ["sale", "list", "--connection", "Not A Name"], /a-z, 0-9 and -/],
    ["a bad reason", ["sale", "refund", "I", "--reason", "9", "--number", "C"], /Allowed choices are/],
    ["a bad date", ["sale", "refund", "I", "--reason", "06", "--number", "C", "--date", "2026-02-30"], /returnDate/],
    ["no note", ["sale", "acknowledge", "I", "--code", "mismatch"], /--note <text>' not specified/],
    ["a blank note", ["sale", "acknowledge", "I", "--code", "mismatch", "--note", " "], /Expected a text/],
    [
      "no code of many",
      ["sale", "acknowledge", "--query", "x", "--yes", "--note", "n"],
      /--code <code>' not specified/,
    ],
    ["neither number nor query", ["sale", "retry"], /either the number of one sale, or --query/],
    ["both", ["sale", "retry", "I", "--query", "x"], /either the number of one sale, or --query/],
    ["a restart without a reason", ["sale", "restart", "I"], /--note <text>' not specified/],
    ["open and ended at once", ["sale", "list", "--attention", "--ended"], /cannot be used with option/],
    [
      "both answers",
      ["sale", "resolve-stock", "I", "--reference", "r", "--applied", "--not-applied", "--note", "n"],
      /exactly one of --applied/,
    ],
    ["no answer", ["sale", "resolve-document", "I", "--note", "n"], /exactly one of --sale ID and --not-created/],
    ["a bad port", ["simulator", "--port", "65536"], /whole number from 0 to 65535/],
    [
      "a wait that swallowed the file",
      ["sale", "start", "--wait", "sale.json"],
      /put --wait after the other arguments/,
    ],
    ["a file that is not there", ["sale", "start", "/nonexistent/sale.json"], /cannot be read \(ENOENT\)/],
    ["a folder", ["sale", "start", "/"], /cannot be read \(EISDIR\)/],
  ];
  test.each(cases)("%s", async (_name, argv, message) => {
    const { exitCode, stdout, stderr } = await callCli(argv);
    expect(stderr).toMatch(message);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
  });

  const inputs: [string, string, RegExp][] = [
    ["nothing", "", /Standard input is not JSON: line 1, column 1: value expected/],
    ["no JSON", '{\n  "lines": [1,, 2]\n}', /line 2, column 15/],
    ["a key twice", '{"a":1,\n"a":2}', /line 2, column 1: this key stands twice/],
    ["an empty list", "[]", /list of sales is empty/],
    ["a text", '"INV-1"', /expected an object, found "INV-1"/],
    [
      "a bad field in a list",
      `[${SALE},{"traderInvoiceNumber":"X","lines":[],"colour":"red"}]`,
      /\[1\]\.lines[^]*\[1\]\.colour: unknown/,
    ],
    ["bytes", "\uFFFD{", /not JSON/],
  ];
  test.each(inputs)("sale start with %s", async (_name, stdin, message) => {
    const { exitCode, stdout, stderr } = await callCli(["sale", "start", "-"], { stdin });
    expect(stderr).toMatch(message);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
  });

  test("sale start with a connection that the file contradicts", async () => {
    const stdin = SALE.replace("{", '{"connection":"b",');
    const { exitCode, stderr } = await callCli(["sale", "start", "-", "--connection", "a"], { stdin });
    expect(exitCode).toBe(2);
    expect(stderr).toContain('connection: expected "a", as --connection says; the file says otherwise');
  });
});

describe("a wrong configuration ends with 2, all problems together", () => {
  test.each([["worker"], ["callbacks"], ["codec"], ["sale list"]])("%s", async (command) => {
    const env = {
      ...NO_TEMPORAL,
      COMPLIANCE_BASE_URL: "nonsense",
      COMPLIANCE_API_KEY: "cmp_sk_test_ hidden",
      LOG_LEVEL: "loud",
    };
    const argv = command === "sale list" ? ["sale", "show", "I"] : [command];
    const { exitCode, stdout, stderr } = await callCli(argv, { env });
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    for (const name of ["COMPLIANCE_BASE_URL", "COMPLIANCE_API_KEY", "LOG_LEVEL"]) expect(stderr).toContain(name);
    expect(stderr).not.toContain("hidden");
  });

  test("the worker command reports a wrong dialect too", async () => {
    const env = { ...NO_TEMPORAL, ...COMPLIANCE, COMPLIANCE_DIALECT: '{"createSale":{"pth":"/x"}}' };
    const { exitCode, stderr } = await callCli(["worker"], { env });
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/COMPLIANCE_DIALECT.*pth/);
  });

  test("a Temporal profile that does not exist", async () => {
    const { exitCode, stderr } = await callCli(["sale", "list"], { env: { TEMPORAL_PROFILE: "nobody" } });
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/Temporal's configuration cannot be used/);
  });
});

describe("a configuration that names logins of the ledger which the process is not given", () => {
  const folder = mkdtempSync(join(tmpdir(), "fiscalflow-logins-"));
  const file = join(folder, "fiscalflow.json");
  const login = { file: "/nonexistent/ledger-url" };
  writeFileSync(file, JSON.stringify({ ledger: { url: login, ownerUrl: login } }));
  afterAll(() => rmSync(folder, { recursive: true }));
  const env = {
    ...NO_TEMPORAL,
    ...COMPLIANCE,
    FISCALFLOW_CONFIG: file,
    CALLBACK_PUBLIC_URL: "https://callbacks.example.com",
    CALLBACK_SECRETS: "for-tests-only-0123456789abcdef0123456789",
    CALLBACK_PORT: "0",
    FISCALFLOW_PAYLOAD_KEYS: `k:${Buffer.alloc(32).toString("base64")}`,
    FISCALFLOW_CODEC_TOKEN: "for-tests-only-0123456789abcdef0123456789",
    FISCALFLOW_CODEC_PORT: "0",
    LOG_LEVEL: "silent",
  };

  test.each(["callbacks", "codec"])("serves %s, which does not use it", async (command) => {
    const signal = AbortSignal.abort();
    expect(await callCli([command], { env, signal })).toEqual({ exitCode: 0, stdout: "", stderr: "" });
  });

  test("is refused by a worker", async () => {
    const { exitCode, stderr } = await callCli(["worker"], { env });
    expect(exitCode).toBe(2);
    for (const name of ["ledger.url", "ledger.ownerUrl"]) expect(stderr).toContain(name);
  });
});

describe("Temporal that cannot be reached ends with 1, and the message names the address", () => {
  test.each([["sale list"], ["sale show I"], ["setup"]])("%s", async (command) => {
    const { exitCode, stdout, stderr } = await callCli(command.split(" "), { env: { ...NO_TEMPORAL, ...COMPLIANCE } });
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toBe(
      "Temporal at 127.0.0.1:9 cannot be reached (ECONNREFUSED). Check TEMPORAL_ADDRESS (or the profile), and that the server runs and can be reached from here.\n",
    );
  });
});

test("a command that changes many names the server first, where no setting does", async () => {
  const nothing = ["sale", "retry", "--query", "FiscalInvoice = 'NO-SUCH-NUMBER'", "--yes"];
  const { stderr } = await callCli(nothing, { env: { TEMPORAL_NAMESPACE: "no-such-namespace" } });
  expect(stderr).toMatch(/^Temporal: localhost:7233, namespace no-such-namespace \(TEMPORAL_ADDRESS is not set\)\n/);
});
