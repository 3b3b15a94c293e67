import { afterAll, beforeAll, expect, test } from "vitest";

import { UPDATES } from "../../src/contract/index.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { resetRun } from "../rig/reset-run.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";
import { batchesOf } from "./batches-of.ts";

describeWithTemporal("a sync batch of unknown outcome", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({ accounting: true, receiver: false, timings: { callTimeoutMs: 1_000 } });
  });
  afterAll(() => rig.close());

  const batch = batchesOf(() => rig);

  test.each<[string, Parameters<ReturnType<typeof batch>["fault"]>[0], number]>([
    ["a lost answer", { when: "after", kind: "drop" }, 1],
    ["a lost request", { when: "before", kind: "drop" }, 0],
    ["a proxy's page", { when: "after", kind: "not-json" }, 1],
    ["a server error", { when: "before", kind: "status", status: 503 }, 0],
    ["an answer that never comes", { when: "after", kind: "slow", delayMs: 5_000 }, 1],
  ])("by %s waits for an operator, who says that it was processed", async (_how, fault, processed) => {
    const one = batch();
    one.fault(fault);
    await one.start();
    expect(await one.needs()).toMatchObject({ code: "batch-unknown", resolvedBy: ["resolveBatch"] });
    await one.handle.executeUpdate(UPDATES.resolveBatch, {
      args: [{ processed: true, note: "seen in the dashboard", by: "achieng" }],
    });
    expect(await one.result()).toEqual({ syncBatchId: one.id, saidBy: "person", message: "seen in the dashboard" });
    expect([one.processed(), one.calls()]).toEqual([processed, 1]);
    expect(await one.claim()).toMatchObject({ decision: { processed: true, by: "achieng" } });
  });

  test("is sent again where an operator says that it was not processed", async () => {
    const one = batch();
    one.fault({ when: "before", kind: "drop" });
    await one.start();
    await one.needs();
    const refused = one.handle.executeUpdate(UPDATES.resolveBatch, { args: [{ processed: false, note: " " }] });
    await expect(refused).rejects.toMatchObject({ cause: { message: expect.stringContaining("note") } });
    const reply = await one.handle.executeUpdate(UPDATES.resolveBatch, {
      args: [{ processed: false, note: "looked" }],
    });
    expect(reply).toMatchObject({ message: expect.stringContaining("Recorded.") });
    expect(await one.result()).toMatchObject({ saidBy: "service" });
    expect([one.processed(), one.calls()]).toEqual([1, 2]);
    expect(await one.claim()).toMatchObject({ generation: 2, state: "processed" });
  });

  test("is not sent again by a run that was reset to before it was sent", async () => {
    const one = batch();
    one.fault({ when: "after", kind: "drop" });
    await one.start();
    await one.needs();
    await resetRun(rig.client, rig.namespace, one.handle.workflowId, { activity: "processSyncBatch" });
    await expect.poll(one.message).toContain("no outcome was written down");
    expect(one.calls()).toBe(1);
    await one.handle.executeUpdate(UPDATES.resolveBatch, { args: [{ processed: true, note: "seen" }] });
    expect(await one.result()).toMatchObject({ saidBy: "person" });
  });

  test("stays with the operator where the decision is about an earlier try than another run's latest", async () => {
    const one = batch();
    one.fault({ when: "before", kind: "drop" });
    await one.start();
    await one.needs();
    // Started around the starter, as another program would.
    const other = one.under(`${one.handle.workflowId} again`);
    await other.start();
    await other.needs();
    one.fault({ when: "before", kind: "drop" });
    const not = { processed: false, note: "not in the dashboard" };
    await other.handle.executeUpdate(UPDATES.resolveBatch, { args: [not] });
    await expect.poll(async () => [one.calls(), (await other.needs())?.code]).toEqual([2, "batch-unknown"]);

    await one.handle.executeUpdate(UPDATES.resolveBatch, { args: [not] });
    await expect
      .poll(async () => (await one.needs())?.evidence)
      .toMatchObject({
        takenBy: expect.stringContaining(other.handle.workflowId) as string,
      });
    expect([one.processed(), one.calls()]).toEqual([0, 2]);
    await one.handle.executeUpdate(UPDATES.resolveBatch, { args: [not] });
    expect(await one.result()).toMatchObject({ saidBy: "service" });
    // The service's answer outweighs a word that comes after it.
    await other.handle.executeUpdate(UPDATES.resolveBatch, { args: [not] });
    expect(await other.result()).toMatchObject({ saidBy: "service" });
    expect([one.processed(), one.calls()]).toEqual([1, 3]);
    expect(await one.claim()).toMatchObject({ state: "processed", generation: 3 });
    const { events } = await one.handle.fetchHistory();
    const tries = (events ?? []).filter(
      ({ activityTaskScheduledEventAttributes: task }) => task?.activityType?.name === "processSyncBatch",
    );
    expect(tries).toHaveLength(2);
  });

  test("needs one decision, even if an earlier run had tried more often than the present one", async () => {
    const one = batch();
    one.fault({ when: "before", kind: "rate-limit", retryAfterSeconds: 0 });
    one.fault({ when: "before", kind: "drop" });
    await one.start();
    await one.needs();
    // At least its second: where the service's pause is not over yet, the next try is put off unsent.
    const asked = (await one.claim())?.generation ?? 0;
    expect(asked).toBeGreaterThanOrEqual(2);
    await resetRun(rig.client, rig.namespace, one.handle.workflowId, { activity: "processSyncBatch" });
    await expect.poll(one.message).toContain("no outcome was written down");
    await one.handle.executeUpdate(UPDATES.resolveBatch, { args: [{ processed: false, note: "looked" }] });
    expect(await one.result()).toMatchObject({ saidBy: "service" });
    expect([one.processed(), one.calls()]).toEqual([1, 3]);
    expect(await one.claim()).toMatchObject({ generation: asked + 1, state: "processed" });
  });
});
