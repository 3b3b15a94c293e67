import { expect, test } from "vitest";

import { readLedgerContents, readServiceBooks } from "../../src/dev/demo/back-office/books-and-ledger.ts";
import { compareWithLedger } from "../../src/dev/demo/back-office/compare-with-ledger.ts";
import { runJobs } from "../../src/dev/demo/back-office/run-jobs.ts";
import { compareWithBooks } from "../../src/dev/demo/compare-with-books.ts";
import { runSales } from "../../src/dev/demo/run-sales.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { renamedDialects } from "../rig/renamed-dialect.ts";
import { demoStack } from "./demo-stack.ts";

/** Of both services, as they are and as they are configured. */
const renamed = renamedDialects();

describeWithTemporal("against services in which every undocumented name is changed", () => {
  test("the whole demo runs with a dialect that says so", async ({ task }) => {
    const stack = await demoStack(task, { simulated: renamed, configured: renamed });
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
