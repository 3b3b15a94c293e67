import { expect, onTestFinished, test } from "vitest";

import { readLedgerContents, readServiceBooks } from "../../src/dev/demo/back-office/books-and-ledger.ts";
import { compareWithLedger } from "../../src/dev/demo/back-office/compare-with-ledger.ts";
import { runJobs } from "../../src/dev/demo/back-office/run-jobs.ts";
import { compareWithBooks } from "../../src/dev/demo/compare-with-books.ts";
import { examplesFolder } from "../../src/dev/demo/examples-folder.ts";
import { readDemoPlan } from "../../src/dev/demo/read-demo-plan.ts";
import { runSales } from "../../src/dev/demo/run-sales.ts";
import { callCli } from "../../src/cli/test-support/call-cli.ts";
import { dialectOf, valueAt } from "../../src/dialect/settings.ts";
import { startSimulator } from "../../src/dev/simulator/index.ts";
import { merged } from "../../src/dev/simulator/dialect.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { renamedDialects } from "../rig/renamed-dialect.ts";
import { demoStack } from "./demo-stack.ts";

interface Printed {
  services: { service: "compliance" | "accounting"; dialect: unknown; questions: { path: string }[] }[];
}

/** The document shows both paths: every other name is another one. */
const renamed = renamedDialects();
const SIMULATED = {
  compliance: merged(renamed.compliance, { createSale: { path: "/v1/sales" }, pull: { path: "/v1/purchases/pull" } }),
  accounting: renamed.accounting,
};

/**
 * What `fiscalflow dialect --write` finds of a service with these names, and the answers of the provider to exactly
 * what it said to ask.
 */
async function foundAndAsked(): Promise<{ compliance: unknown; accounting: unknown }> {
  const plan = await readDemoPlan(examplesFolder(), process.cwd());
  const simulator = await startSimulator({
    scenario: plan.scenario,
    dialect: SIMULATED.compliance,
    accountingDialect: SIMULATED.accounting,
    limitPerWindow: 10_000,
  });
  onTestFinished(() => simulator.close());
  const { exitCode, stdout } = await callCli(["dialect", "--write", "--yes", "--json"], {
    env: {
      COMPLIANCE_BASE_URL: simulator.url,
      COMPLIANCE_API_KEY: plan.apiKey,
      COMPLIANCE_BUSINESS_ID: plan.businessId,
      ACCOUNTING_BASE_URL: simulator.accounting.url,
      ACCOUNTING_API_KEY: plan.accounting.apiKey,
      ...(plan.accounting.clientSecret !== undefined && { ACCOUNTING_CLIENT_SECRET: plan.accounting.clientSecret }),
    },
  });
  expect(exitCode).toBe(0);
  const { services } = JSON.parse(stdout) as Printed;
  const configured = (name: "compliance" | "accounting"): unknown => {
    const printed = services.find(({ service }) => service === name);
    const answers = printed?.questions.map(({ path }) => [path, valueAt(SIMULATED[name], path)] as const) ?? [];
    return merged(printed?.dialect, dialectOf(answers));
  };
  return { compliance: configured("compliance"), accounting: configured("accounting") };
}

describeWithTemporal("against services in which every undocumented name is changed", () => {
  test("the whole demo runs with the dialect that `fiscalflow dialect` finds and asks for", async ({ task }) => {
    const configured = await foundAndAsked();
    const stack = await demoStack(task, { simulated: SIMULATED, configured });
    const { simulator, starter, plan } = stack;

    const sales = await runSales(stack);
    expect(compareWithBooks(plan, sales, simulator.books(), { callCounts: false })).toEqual([]);

    const { signal } = new AbortController();
    const results = await runJobs(stack, { signal, onProgress: () => undefined, onEnd: () => undefined });
    expect(
      results.flatMap(({ job, problem }) => (problem === undefined ? [] : [`${job.workflow}: ${problem}`])),
    ).toEqual([]);
    const ledger = await readLedgerContents(stack, undefined);
    expect(compareWithLedger(readServiceBooks(stack), ledger, "2000-01-01")).toEqual([]);

    const sale = {
      businessId: plan.businessId,
      traderInvoiceNumber: "BRANCH-1",
      branch: "01",
      customer: { name: "Wanjiru", pin: "A009876543X" },
      lines: [{ itemId: "item_chai", quantity: 3, unitPrice: 345 }],
      refundWindow: "1 hour",
    };
    expect(await starter.startSaleAndWait(sale, { waitSeconds: 30 })).toMatchObject({
      outcome: { stage: "completed", sale: { customer: { name: "Wanjiru", pin: "A009876543X" } } },
    });
    const key = { invoice: "BRANCH-1", businessId: plan.businessId };
    const request = { reason: "06", traderInvoiceNumber: "CN-BRANCH-1", restock: true } as const;
    expect(await starter.refund(key, request, { waitSeconds: 30 })).toMatchObject({ stage: "credited" });
    await stack.client.workflow.getHandle(starter.workflowId(key)).result();
    const movements = simulator.books().movements.filter(({ branchId }) => branchId === "branch_ngong_road");
    expect(movements.map(({ itemId, action, quantity }) => [itemId, action, quantity])).toEqual([
      ["item_chai", "DEDUCT", 3],
      ["item_chai", "ADD", 3],
    ]);
  });
});
