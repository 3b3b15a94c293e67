import { expect, test } from "vitest";

import { compareWithBooks } from "../../src/dev/demo/compare-with-books.ts";
import { runSales } from "../../src/dev/demo/run-sales.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { renamedDialects } from "../rig/renamed-dialect.ts";
import { runBackOffice } from "./back-office.ts";
import { demoStack, temporalOf } from "./demo-stack.ts";

/** Of both services, as they are and as they are configured. */
const renamed = renamedDialects();

describeWithTemporal("against services in which every undocumented name is changed", () => {
  test("the whole demo runs with a dialect that says so", async ({ task }) => {
    const stack = await demoStack(task, {
      simulated: { dialect: renamed.compliance, accountingDialect: renamed.accounting },
      settings: {
        COMPLIANCE_DIALECT: JSON.stringify(renamed.compliance),
        ACCOUNTING_DIALECT: JSON.stringify(renamed.accounting),
        // Its webhooks are on, and none is sent here.
        ACCOUNTING_WEBHOOK_SECRET: "whsec_development_of_the_accounting_service",
      },
    });
    const { simulator, starter, plan } = stack;

    const sales = await runSales(stack);
    expect(compareWithBooks(plan, sales, simulator.books())).toEqual([]);

    expect(await runBackOffice(stack, temporalOf(task))).toEqual([]);

    const sale = {
      businessId: plan.business.id,
      traderInvoiceNumber: "BRANCH-1",
      branch: "01",
      customer: { name: "Wanjiru", pin: "A009876543X" },
      lines: [{ itemId: "item_chai", quantity: 3, unitPrice: 345 }],
      refundWindow: "1 hour",
    };
    expect(await starter.startSaleAndWait(sale, { waitSeconds: 30 })).toMatchObject({
      outcome: { stage: "completed", sale: { customer: { name: "Wanjiru", pin: "A009876543X" } } },
    });
    const key = { invoice: "BRANCH-1", businessId: plan.business.id };
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
