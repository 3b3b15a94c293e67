import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { NativeConnection, Worker } from "@temporalio/worker";
import { afterAll, beforeAll, expect, test, vi } from "vitest";

import { bundleWorkflows } from "../../src/worker/bundle-workflows.ts";
import { commandEnv } from "../rig/command-env.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { forgetWorkflow } from "../rig/forget-workflow.ts";
import { PATIENCE_MS } from "../rig/patience.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

const MAIN = fileURLToPath(new URL("../../dist/src/main.js", import.meta.url));
const CHANGED = fileURLToPath(new URL("../replay/changed-workflows.ts", import.meta.url));
const lines = [{ itemId: "item_tea", quantity: 2, unitPrice: 350 }];

describeWithTemporal("fiscalflow replay", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({ receiver: false });
    await rig.starter.startSaleAndWait({ traderInvoiceNumber: "OPEN-1", lines }, { waitSeconds: 20 });
    rig.simulator.setAuthority("OPEN-2", [{ do: "reject", reason: "Closed" }]);
    await rig.starter.startSale({ traderInvoiceNumber: "OPEN-2", lines });
  });
  afterAll(() => rig?.close());

  /** The built command, with the bundle that its worker has. */
  function replay(...flags: string[]): Promise<{ exitCode: number; stdout: string; stderr: string }> {
    return new Promise((resolve) => {
      const env = { PATH: process.env["PATH"], ...commandEnv(rig) };
      execFile(process.execPath, [MAIN, "replay", ...flags], { env }, (error, stdout, stderr) =>
        resolve({ exitCode: Number(error?.code ?? 0), stdout, stderr }),
      );
    });
  }

  test("ends with 0 where this build can carry on every open run, also one that no worker has begun", async () => {
    const unbegun = { traderInvoiceNumber: "UNBEGUN-1", businessId: "biz_1", lines };
    const workflowId = "sale/default/biz_1/UNBEGUN-1";
    const handle = await rig.client.workflow.start("sale", { workflowId, taskQueue: "nobody", args: [unbegun] });
    await vi.waitUntil(async () => (await rig.client.workflow.count('ExecutionStatus = "Running"')).count === 3, {
      timeout: PATIENCE_MS,
    });
    expect(await replay()).toEqual({
      exitCode: 0,
      stdout: "3 runs replayed: this build can carry on all of them.\n",
      stderr: expect.stringMatching(/^Replaying 3 runs on this build\.\n/),
    });
    const some = await replay("--query", 'FiscalInvoice STARTS_WITH "OPEN-"', "--limit", "1", "--json");
    expect(some).toMatchObject({ exitCode: 0, stdout: "[]\n" });
    expect(some.stderr).toMatch(/^1 run replayed: .*\nThere are more than these: --limit replays more/m);
    await handle.terminate();
    await forgetWorkflow(rig, workflowId);
  });

  test("names a run that another build has carried on otherwise, says why, and ends with 1", async () => {
    const connection = await NativeConnection.connect({ address: rig.address });
    const { namespace, client } = rig;
    const taskQueue = "another-build";
    const workflowBundle = await bundleWorkflows(CHANGED);
    const worker = await Worker.create({ connection, namespace, taskQueue, workflowBundle });
    const workflowId = "sale/default/biz_1/OTHER-1";
    const input = { traderInvoiceNumber: "OTHER-1", businessId: "biz_1", lines };
    const handle = await client.workflow.start("sale", { workflowId, taskQueue, args: [input] });
    const hasPaused = async (): Promise<boolean> =>
      (await handle.fetchHistory()).events?.some((event) => event.timerStartedEventAttributes) === true;
    await worker.runUntil(vi.waitUntil(hasPaused, { timeout: PATIENCE_MS }));
    await connection.close();

    const query = [
      "--query",
      'FiscalInvoice STARTS_WITH "OPEN-" OR WorkflowId STARTS_WITH "sale/default/biz_1/OTHER-"',
    ];
    const told = await replay(...query);
    expect(told.exitCode).toBe(1);
    expect(told.stdout).toContain("3 runs replayed: this build cannot carry on 1 of them.");
    const row = `${workflowId}  ${handle.firstExecutionRunId}  this build takes other steps than the run has taken: `;
    expect(told.stdout).toContain(row);
    expect(told.stdout).not.toContain("OPEN-");
    const { stdout, exitCode } = await replay(...query, "--json");
    expect({ rows: JSON.parse(stdout) as unknown, exitCode }).toEqual({
      rows: [{ workflowId, runId: handle.firstExecutionRunId, reason: expect.stringContaining("Nondeterminism") }],
      exitCode: 1,
    });
    await handle.terminate();
    await forgetWorkflow(rig, workflowId);
  });

  test("ends with 2 where Temporal does not understand the query", async () => {
    const { exitCode, stderr } = await replay("--query", "FiscalInvoice =");
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr: expect.stringMatching(/^Temporal does not understand the query: /),
    });
  });
});
