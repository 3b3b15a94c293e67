import { expect, test } from "vitest";
import { compareWithBooks } from "../../src/dev/demo/compare-with-books.ts";
import { runSales } from "../../src/dev/demo/run-sales.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { demoStack, restartWorkers } from "./demo-stack.ts";

describeWithTemporal("the demo's sales", () => {
  test("finish, each once, although the worker is stopped in the middle of them and started again", async ({
    task,
  }) => {
    const stack = await demoStack(task);
    let stopped: Promise<void> | undefined;
    const sales = await runSales(stack, {
      onChange: (now) => {
        const submitted = now.filter(({ state }) => state?.document).length;
        if (submitted >= 3) stopped ??= restartWorkers(stack);
      },
    });
    expect(stopped).toBeDefined();
    await stopped;
    expect(compareWithBooks(stack.plan, sales, stack.simulator.books())).toEqual([]);
  });
});
