import { afterAll, beforeAll, expect, test } from "vitest";

import { callCli } from "../../src/cli/test-support/call-cli.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

describeWithTemporal("the commands of the accounting service", () => {
  let rig: Rig;
  let env: Record<string, string>;
  beforeAll(async () => {
    const scenario = { accounting: { generatedBillPayments: 30 } };
    rig = await startRig({ accounting: true, receiver: false, simulator: { scenario } });
    env = {
      TEMPORAL_ADDRESS: rig.address,
      TEMPORAL_NAMESPACE: rig.namespace,
      ACCOUNTING_BASE_URL: rig.simulator.accounting.url,
      ACCOUNTING_API_KEY: "sk_development_simulator",
    };
  });
  afterAll(() => rig.close());

  const cli = (...argv: string[]) => callCli(argv, { env });

  test("synchronise bill payments, and print what the ledger holds", async () => {
    const first = await cli("bill-payments", "sync", "--wait", "--json");
    expect(first).toMatchObject({ exitCode: 0 });
    expect(JSON.parse(first.stdout)).toMatchObject({
      workflowId: "sync-bill-payments/default",
      result: { kind: "full", total: 30, settled: true },
    });
    rig.simulator.accounting.removeBillPayment("bp_0000001");
    const recent = await cli("bill-payments", "sync", "--wait");
    expect(recent.stdout).toContain(
      "so a payment is gone, cannot be read, or changed without a new updatedAt: run with --full",
    );
    const full = await cli("bill-payments", "sync", "--full", "--wait");
    expect(full.stdout).toMatch(
      /The ledger holds 29: .*\nFinding: Listed once and not any more \(ask the provider why\): 1/,
    );
  });

  test("process a batch once, and let an operator resolve one whose answer was lost", async () => {
    const done = await cli("batch", "process", "batch_1", "--wait");
    expect(done).toMatchObject({ exitCode: 0, stdout: "batch_1 was processed: The batch was processed.\n" });
    rig.simulator.accounting.addSyncBatch({ id: "b 2" });
    rig.simulator.inject({ operation: "processSyncBatch", when: "after", kind: "drop", times: 1 });
    const lost = await cli("batch", "process", "b 2", "--wait");
    expect(lost.exitCode).toBe(1);
    expect(lost.stdout).toContain("Needs an operator: batch-unknown");
    expect(lost.stdout).toContain("fiscalflow batch resolve 'b 2' --processed --note '<how you know>'");
    const resolved = await cli("batch", "resolve", "b 2", "--processed", "--note", "seen in the dashboard");
    expect(resolved).toMatchObject({ exitCode: 0 });
    const again = await cli("batch", "process", "b 2", "--wait");
    expect(again).toMatchObject({
      exitCode: 0,
      stdout: "b 2 was processed, as an operator said: seen in the dashboard\n",
    });
    const nothing = await cli("batch", "retry", "batch_9");
    expect(nothing.exitCode).toBe(1);
  });

  test.each([
    [["batch", "process", ".."], "sync batch"],
    [["batch", "resolve", "b", "--note", "x"], "exactly one of --processed and --not-processed"],
    [["bill-payments", "sync", "--connection", "other"], 'The accounting connection "other" is not configured here'],
  ])("refuse %j", async (argv, why) => {
    const refused = await cli(...argv);
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr.toLowerCase()).toContain(why.toLowerCase());
  });
});
