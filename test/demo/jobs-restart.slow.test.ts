import { expect, test } from "vitest";

import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { runBackOffice } from "./back-office.ts";
import { demoStack, restartWorkers, temporalOf } from "./demo-stack.ts";

describeWithTemporal("the demo's jobs", () => {
  test("complete, each effect once, although the worker is stopped during them and started again", async ({ task }) => {
    const stack = await demoStack(task);
    let restarts = Promise.resolve();
    const problems = await runBackOffice(stack, temporalOf(task), () => {
      restarts = restarts.then(() => restartWorkers(stack));
    });
    await restarts;
    expect(problems).toEqual([]);
  });
});
