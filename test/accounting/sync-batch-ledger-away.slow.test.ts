import { afterAll, afterEach, beforeAll, expect, test } from "vitest";

import { UPDATES } from "../../src/contract/index.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { type RigOnLine, startRigOnLine } from "../rig/start-rig-on-line.ts";
import { batchesOf } from "./batches-of.ts";

describeWithTemporal("the outcome of a sync batch that is known while the ledger is away", () => {
  let onLine: RigOnLine;
  beforeAll(async () => {
    onLine = await startRigOnLine({ accounting: true, receiver: false });
  });
  // A test that fails in between leaves the other one its database.
  afterEach(() => onLine.line.restore());
  afterAll(() => onLine?.close());

  const batch = batchesOf(() => onLine.rig);

  /** Started, and answered only once the ledger is away. Resolves when the answer is waiting to be written down. */
  async function answeredMeanwhile(one: ReturnType<typeof batch>): Promise<void> {
    one.fault({ when: "after", kind: "slow", delayMs: 500 });
    await one.start();
    await onLine.rig.simulator.until(() => one.calls() === 1);
    onLine.line.cut();
    const pending = async () =>
      (await one.handle.describe()).raw.pendingActivities?.map(({ activityType }) => activityType?.name);
    await expect.poll(pending).toEqual(["settleBatch"]);
  }

  test("is written into the claim before the batch counts as processed", async () => {
    const one = batch({ message: "7 bills were synced." });
    await answeredMeanwhile(one);
    onLine.line.restore();
    expect(await one.result()).toMatchObject({ saidBy: "service", message: "7 bills were synced." });
    expect(await one.claim()).toMatchObject({ state: "processed", generation: 1, message: "7 bills were synced." });
    expect([one.processed(), one.calls()]).toEqual([1, 1]);
  });

  test("is written into the claim as a refusal, so that a retry sends the batch without asking what became of it", async () => {
    const { accounting } = onLine.rig.simulator;
    const one = batch({ companyId: "company_2" });
    accounting.setApplication("simulator", { companies: ["company_1"] });
    await answeredMeanwhile(one);
    onLine.line.restore();
    const attention = await one.needs();
    expect(attention).toMatchObject({ code: "credentials" });
    expect(await one.claim()).toMatchObject({ state: "not-processed", generation: 1, message: attention?.message });
    accounting.setApplication("simulator", { companies: null });
    await one.handle.executeUpdate(UPDATES.retry, { args: [{}] });
    expect(await one.result()).toMatchObject({ saidBy: "service" });
    expect([one.processed(), one.calls()]).toEqual([1, 2]);
  });
});
