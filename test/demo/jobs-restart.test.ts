import { expect, test } from "vitest";
import { readLedgerContents, readServiceBooks } from "../../src/dev/demo/back-office/books-and-ledger.ts";
import { compareWithLedger } from "../../src/dev/demo/back-office/compare-with-ledger.ts";
import { runJobs } from "../../src/dev/demo/back-office/run-jobs.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { demoStack, restartWorkers } from "./demo-stack.ts";

describeWithTemporal("the demo's jobs", () => {
  test("complete, each effect once, although the worker is stopped during them and started again", async ({ task }) => {
    const stack = await demoStack(task);
    const stopped = new Set<string>();
    let restarts = Promise.resolve();
    const results = await runJobs(stack, {
      signal: new AbortController().signal,
      onProgress: ({ workflow }) => {
        if (stopped.has(workflow)) return;
        stopped.add(workflow);
        restarts = restarts.then(() => restartWorkers(stack));
      },
      onEnd: () => undefined,
    });
    await restarts;
    expect(results.flatMap(({ problem }) => problem ?? [])).toEqual([]);
    // A quick one may have ended before anybody has looked at it.
    expect(stopped.size).toBeGreaterThanOrEqual(3);
    // No sale was made, so that no day has anything to report but the one sale from the dashboard.
    const ledger = await readLedgerContents(stack, undefined);
    expect(compareWithLedger(readServiceBooks(stack), ledger, "2000-01-01")).toEqual([]);
  });
});
