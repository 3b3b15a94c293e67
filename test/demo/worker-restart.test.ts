import { afterEach, beforeEach, expect, inject, test } from "vitest";
import { readLedgerContents, readServiceBooks } from "../../src/cli/demo/back-office/books-and-ledger.ts";
import { compareWithLedger } from "../../src/cli/demo/back-office/compare-with-ledger.ts";
import { runJobs } from "../../src/cli/demo/back-office/run-jobs.ts";
import { Cleanup } from "../../src/cli/demo/cleanup.ts";
import { compareWithBooks } from "../../src/cli/demo/compare-with-books.ts";
import { examplesFolder } from "../../src/cli/demo/examples-folder.ts";
import { readDemoPlan } from "../../src/cli/demo/read-demo-plan.ts";
import { runSales } from "../../src/cli/demo/run-sales.ts";
import { type DemoStack, startDemoStack } from "../../src/cli/demo/start-demo-stack.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { namespaceOf } from "../rig/namespace.ts";

describeWithTemporal("the demo's sales", () => {
  const cleanup = new Cleanup();
  let stack: DemoStack;
  beforeEach(async ({ task }) => {
    const plan = await readDemoPlan(examplesFolder(), process.cwd());
    const temporal = {
      connectionOptions: { address: inject("temporalAddress") },
      namespace: namespaceOf(task.file.filepath),
      uiUrl: undefined,
      own: true,
    };
    const workflowBundle = { codePath: inject("workflowBundlePath") };
    stack = await startDemoStack({ plan, temporal, workflowBundle, cleanup });
    await stack.workers.start();
  });
  afterEach(async () => {
    await cleanup.run();
  });

  test("finish, each once, although the worker is stopped in the middle of them and started again", async () => {
    let stopped: Promise<void> | undefined;
    const restart = async (): Promise<void> => {
      await stack.workers.drain();
      await stack.workers.start();
    };
    const sales = await runSales(stack, {
      onChange: (now) => {
        const submitted = now.filter(({ state }) => state?.document).length;
        if (submitted >= 3) stopped ??= restart();
      },
    });
    expect(stopped).toBeDefined();
    await stopped;
    expect(compareWithBooks(stack.plan, sales, stack.simulator.books(), { callCounts: false })).toEqual([]);
  });

  test("are followed by jobs that end, each once, although the worker is stopped in each of them and started again", async () => {
    const restarted = new Map<string, Promise<void>>();
    const restart = async (): Promise<void> => {
      await stack.workers.drain();
      await stack.workers.start();
    };
    const results = await runJobs(stack, {
      signal: new AbortController().signal,
      onProgress: ({ workflow }) => {
        if (!restarted.has(workflow)) restarted.set(workflow, restart());
      },
      onEnd: () => undefined,
    });
    await Promise.all(restarted.values());
    expect(results.flatMap(({ problem }) => problem ?? [])).toEqual([]);
    // The quick ones may end before they are looked at.
    expect(restarted.size).toBeGreaterThanOrEqual(3);
    const ledger = await readLedgerContents(stack, undefined);
    expect(compareWithLedger(readServiceBooks(stack), ledger, "2000-01-01")).toEqual([]);
  });
});
