import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { Client, Connection } from "@temporalio/client";

import { createStarter } from "../../src/starter/index.ts";
import { callCli, type CliResult } from "../../src/cli/test-support/call-cli.ts";
import { type DevServer, startDevServer } from "../../src/servers/start-dev-server.ts";
import { type Simulator, startSimulator } from "../../src/dev/simulator/index.ts";
import { MAIN_TASK_QUEUE, SEARCH_ATTRIBUTES } from "../../src/contract/index.ts";
import { withOutsideClient } from "../../src/ledger/test-support/outside-client.ts";
import { emptyDatabase, freshDatabase } from "../rig/fresh-database.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";

const INT = 3;

interface Checked {
  ok: boolean;
  checks: { check: string; level: string; message: string; todo?: string }[];
}

describeWithTemporal("on a server that lacks search attributes", () => {
  let server: DevServer;
  let simulator: Simulator;
  beforeAll(async () => {
    server = await startDevServer({ namespaces: ["default", "wrong"] });
    simulator = await startSimulator();
  });
  afterAll(async () => {
    await simulator.close();
    await server.stop();
  });

  function cli(argv: string[], more: Record<string, string> = {}, stdin = ""): Promise<CliResult> {
    const env = {
      TEMPORAL_ADDRESS: server.address,
      COMPLIANCE_BASE_URL: simulator.url,
      COMPLIANCE_API_KEY: "cmp_sk_test_simulator",
      COMPLIANCE_BUSINESS_ID: "biz_1",
      ...more,
    };
    return callCli(argv, { env, stdin });
  }

  async function doctor(more: Record<string, string> = {}): Promise<Checked & { exitCode: number }> {
    const { exitCode, stdout } = await cli(["doctor", "--json"], more);
    return { exitCode, ...(JSON.parse(stdout) as Checked) };
  }

  test("doctor says whether the database of the claims answers", async () => {
    const { checks } = await doctor({ LEDGER_URL: await freshDatabase(inject("ledgerServerUrl")) });
    expect(checks).toContainEqual({ check: "ledger", level: "ok", message: "localhost answers" });
    const away = await doctor({ LEDGER_URL: "postgres://fiscalflow:hush@127.0.0.1:9/ledger" });
    const found = away.checks.find(({ check }) => check === "ledger");
    expect(found).toMatchObject({ level: "fault", message: expect.stringContaining("127.0.0.1:9") });
    expect(JSON.stringify(away)).not.toContain("hush");
  });

  test("doctor reports missing search attributes and what to do, and starts no workflow", async () => {
    const { exitCode, checks } = await doctor();
    expect(exitCode).toBe(1);
    expect(checks).toContainEqual({
      check: "search attributes",
      level: "fault",
      message: "missing: FiscalBusiness, FiscalInvoice, FiscalSaleId, FiscalCreditNote, FiscalStage, FiscalAttention",
      todo: "run `fiscalflow setup`, which adds them",
    });
    expect(JSON.stringify(checks)).not.toContain("Temporal refuses");
    const connection = await Connection.connect({ address: server.address });
    const { count } = await connection.workflowService.countWorkflowExecutions({ namespace: "default" });
    expect(Number(count)).toBe(0);
    await connection.close();
  });

  test("the worker does not start, and names the command that corrects it", async () => {
    const { exitCode, stderr } = await cli(["worker"]);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/lacks search attributes: FiscalBusiness.*Run `fiscalflow setup`/);
  });

  test.each([
    [["sale", "list"]],
    [["sale", "list", "--attention"]],
    [["sale", "list", "--ended"]],
    [["sale", "start", "-"]],
    [["sale", "show", "INV-1"]],
    [["sale", "retry", "--query", "FiscalStage = 'rejected'", "--yes"]],
    [["jobs", "list", "--attention"]],
    [["purchases", "sync"]],
  ])("%j names that command too", async (argv) => {
    const stdin = '{"traderInvoiceNumber":"INV-1","lines":[{"sku":"TEA","quantity":1,"unitPrice":1}]}';
    const { exitCode, stdout, stderr } = await cli(argv, {}, stdin);
    expect(stderr).toMatch(/lacks search attributes: .*Fiscal.*Run `fiscalflow setup`/);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
  });

  test("each function of the starter that needs them names it too", async () => {
    const connection = await Connection.connect({ address: server.address });
    const starter = createStarter({ client: new Client({ connection }), businesses: { default: "biz_1" } });
    const key = { invoice: "INV-1" };
    const sale = { traderInvoiceNumber: "INV-1", lines: [{ sku: "TEA", quantity: 1, unitPrice: 1 }] };
    const refund = { reason: "06", traderInvoiceNumber: "CN-1" } as const;
    const corrected = { ...sale, traderInvoiceNumber: "INV-2" };
    const asked = await Promise.allSettled([
      starter.startSale(sale),
      starter.startSaleAndWait(sale),
      starter.getSale(key),
      starter.outcome(key),
      starter.refund(key, refund),
      starter.correct(key, { reason: "06", traderInvoiceNumber: "CN-1", replaceWith: corrected }),
      starter.listAttention().next(),
      starter.events().next(),
    ]);
    const reason = {
      code: "TemporalRefused",
      message: expect.stringMatching(
        /^Temporal refuses: .*Fiscal\w+.* Run `fiscalflow setup`, which adds .*; or check that the namespace is the right one\.$/,
      ) as string,
    };
    expect(asked).toMatchObject(asked.map(() => ({ status: "rejected", reason })));
    await connection.close();
  });

  test("setup adds the search attributes, and finds them the second time", async () => {
    const first = await cli(["setup", "--json"]);
    expect(first.exitCode).toBe(0);
    expect(JSON.parse(first.stdout)).toMatchObject({ present: [], added: expect.arrayContaining(["FiscalStage"]) });
    const second = await cli(["setup"]);
    expect(second).toMatchObject({ exitCode: 0, stderr: "" });
    expect(second.stdout).toMatch(/^FiscalBusiness: was there\n/);
    expect((await doctor()).checks).toContainEqual(
      expect.objectContaining({ check: "search attributes", level: "ok" }),
    );
  });

  test("setup twice at the same time succeeds twice", async () => {
    const results = await Promise.all([cli(["setup"]), cli(["setup"]), cli(["setup"])]);
    expect(results.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0]);
  });

  test("setup makes the ledger's tables, as their owner, and gives the workers what they need", async () => {
    const { url: LEDGER_URL, ownerUrl: LEDGER_OWNER_URL } = await emptyDatabase(inject("ledgerServerUrl"));
    const check = async () => (await doctor({ LEDGER_URL })).checks.find((one) => one.check === "ledger");
    const todo = "run `fiscalflow setup` with LEDGER_OWNER_URL";
    expect(await check()).toMatchObject({ level: "fault", message: expect.stringContaining(todo) });
    const results = await Promise.all([1, 2].map(() => cli(["setup"], { LEDGER_URL, LEDGER_OWNER_URL })));
    for (const { exitCode, stdout } of results) {
      expect(exitCode).toBe(0);
      expect(stdout).toContain("The ledger's tables are ready.");
    }
    expect(await check()).toMatchObject({ level: "ok" });
  });

  test.each([
    ["report", "day"],
    ["documents", "month"],
    ["sale", "list"],
    ["ledger", "verify"],
  ])(
    "%s %s makes no tables on an empty server, even as their owner, and names the command that does",
    async (...argv) => {
      const { ownerUrl } = await emptyDatabase(inject("ledgerServerUrl"));
      const { exitCode, stdout, stderr } = await cli(argv, { LEDGER_URL: ownerUrl });
      expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
      expect(stderr).toContain("run `fiscalflow setup` with LEDGER_OWNER_URL");
      const { rows } = await withOutsideClient(ownerUrl, (outside) =>
        outside.query("select relname from pg_class where relnamespace = 'public'::regnamespace"),
      );
      expect(rows).toEqual([]);
    },
  );

  test("a search attribute of another type is a fault that setup does not change", async () => {
    const connection = await Connection.connect({ address: server.address });
    const namespace = "wrong";
    const searchAttributes = { FiscalStage: INT };
    await connection.operatorService.addSearchAttributes({ namespace, searchAttributes });
    await connection.close();
    const { exitCode, stdout, stderr } = await cli(["setup"], { TEMPORAL_NAMESPACE: namespace });
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toMatch(/another type, expected Keyword: FiscalStage is Int/);
    expect((await doctor({ TEMPORAL_NAMESPACE: namespace })).checks).toContainEqual(
      expect.objectContaining({ level: "fault", message: "FiscalStage is Int, must be Keyword" }),
    );
  });

  test("a missing namespace is named, with the command that creates it", async () => {
    const more = { TEMPORAL_NAMESPACE: "nowhere" };
    const advice = /has no namespace "nowhere".*temporal operator namespace create --namespace nowhere/;
    for (const command of ["setup", "worker"]) {
      const { exitCode, stderr } = await cli([command], more);
      expect({ command, exitCode }).toEqual({ command, exitCode: 1 });
      expect(stderr).toMatch(advice);
    }
    const { checks } = await doctor(more);
    expect(checks).toContainEqual(
      expect.objectContaining({ check: "namespace", message: expect.stringMatching(advice) }),
    );
  });

  test("doctor goes on where the configuration is wrong, or Temporal away: every fault in one run", async () => {
    const wrong = await doctor({ COMPLIANCE_API_KEY: "nonsense" });
    expect(wrong).toMatchObject({ exitCode: 1 });
    expect(wrong.checks).toContainEqual(
      expect.objectContaining({ level: "fault", message: expect.stringContaining("COMPLIANCE_API_KEY") }),
    );
    expect(wrong.checks).toContainEqual(expect.objectContaining({ check: "namespace", level: "ok" }));

    const away = await doctor({ TEMPORAL_ADDRESS: "127.0.0.1:9" });
    expect(away).toMatchObject({ exitCode: 1 });
    expect(away.checks).toContainEqual(
      expect.objectContaining({ check: "Temporal", level: "fault", message: expect.stringContaining("ECONNREFUSED") }),
    );
  });
});

describeWithTemporal("on a server with search attributes", () => {
  let server: DevServer;
  let simulator: Simulator;
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "fiscalflow-doctor-"));
    server = await startDevServer({ searchAttributes: Object.values(SEARCH_ATTRIBUTES) });
    simulator = await startSimulator();
  });
  afterAll(async () => {
    await rm(folder, { recursive: true });
    await simulator.close();
    await server.stop();
  });

  test("doctor finds no fault", async () => {
    const { exitCode, stdout, stderr } = await callCli(["doctor"], {
      env: {
        TEMPORAL_ADDRESS: server.address,
        COMPLIANCE_BASE_URL: simulator.url,
        COMPLIANCE_API_KEY: "cmp_sk_test_simulator",
        COMPLIANCE_BUSINESS_ID: "biz_1",
        ACCOUNTING_BASE_URL: simulator.accounting.url,
        ACCOUNTING_API_KEY: "sk_development_simulator",
      },
    });
    expect(stdout).not.toContain("✗");
    expect(stdout).toMatch(/^! Schedules: \S+ is missing.*\n {2}→ run `fiscalflow setup`$/m);
    expect(stdout).toMatch(/^✓ accounting default, key: development, not signed, reaches \d+ bill payments$/m);
    expect(stderr).toMatch(/^0 faults, \d warnings?\.\n$/);
    expect(exitCode).toBe(0);
  });

  test("doctor ends with 1 while the API is away, and with 0 once it answers again", async () => {
    const doctor = () =>
      callCli(["doctor"], {
        env: {
          TEMPORAL_ADDRESS: server.address,
          COMPLIANCE_BASE_URL: simulator.url,
          COMPLIANCE_API_KEY: "cmp_sk_test_simulator",
          COMPLIANCE_BUSINESS_ID: "biz_1",
        },
      });
    simulator.inject({ operation: "*", when: "before", kind: "status", status: 503 });
    const away = await doctor();
    simulator.clearFaults();
    expect(away).toMatchObject({ exitCode: 1, stderr: expect.stringMatching(/^1 fault, /) });
    expect(away.stdout).toMatch(/^✗ connection default, key: .*HTTP 503/m);
    expect(await doctor()).toMatchObject({ exitCode: 0, stderr: expect.stringMatching(/^0 faults, /) });
  });

  test("doctor reports an application whose calls no worker takes, though workers serve the namespace", async () => {
    const connection = await Connection.connect({ address: server.address });
    const poll = { namespace: "default", taskQueue: { name: MAIN_TASK_QUEUE, kind: 1 }, identity: "a worker" };
    // Nothing comes; the server refuses to wait for less.
    const ask = () => connection.workflowService.pollWorkflowTaskQueue(poll);
    await connection.withDeadline(Date.now() + 2_500, ask).catch(() => undefined);
    await connection.close();
    const { stdout } = await callCli(["doctor"], {
      env: {
        TEMPORAL_ADDRESS: server.address,
        COMPLIANCE_BASE_URL: simulator.url,
        COMPLIANCE_API_KEY: "cmp_sk_test_simulator",
        COMPLIANCE_BUSINESS_ID: "biz_1",
        COMPLIANCE_APPLICATION: "till",
      },
    });
    expect(stdout).toMatch(/✓ workers: 1 polled lately; the last poll of "fiscalflow" began \d+ s ago/);
    expect(stdout).toContain('none has polled "fiscalflow.compliance.till" lately: calls of the application till wait');
  });

  test("doctor reports two keys that reach one business", async () => {
    simulator.setKey("cmp_sk_test_second", { application: "simulator" });
    const path = join(folder, "config.json");
    const second = { baseUrl: simulator.url, apiKey: { env: "SECOND_KEY" }, businesses: ["*"] };
    await writeFile(path, JSON.stringify({ compliance: { second } }));
    const { exitCode, stdout } = await callCli(["doctor"], {
      env: {
        TEMPORAL_ADDRESS: server.address,
        COMPLIANCE_BASE_URL: simulator.url,
        COMPLIANCE_API_KEY: "cmp_sk_test_simulator",
        COMPLIANCE_BUSINESSES: "*",
        SECOND_KEY: "cmp_sk_test_second",
        FISCALFLOW_CONFIG: path,
      },
    });
    expect(stdout).toContain("✗ connections default and second: both keys reach biz_1:");
    expect(stdout).not.toMatch(/^✗ connection /m);
    expect(exitCode).toBe(1);
  });
});
