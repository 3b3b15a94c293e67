import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";

import {
  MAIN_TASK_QUEUE,
  type RegisterItemsInput,
  type RegisterItemsOutcome,
  registerItemsWorkflowId,
  WORKFLOW_TYPES,
} from "../../src/contract/index.ts";
import { type SkippingRig, startSkippingRig } from "../rig/skipping-rig.ts";

const SCOPE = { connection: "default", businessId: "biz_1" };

describe("a registration of items whose answer is lost", () => {
  let rig: SkippingRig;
  beforeAll(async () => {
    rig = await startSkippingRig();
  });
  afterEach(() => rig.simulator.clearFaults());
  afterAll(() => rig?.close());

  const asked = (itemId: string) =>
    rig.simulator.calls({ operation: "registerItem" }).filter((call) => call.itemId === itemId);
  /** Registers one item, while the answers of its registration are lost. Says how long it took, too. */
  async function registerLosing(id: string, fault: { when: "before" | "after"; times?: number }, force = false) {
    rig.simulator.addItem({ id, businessId: "biz_1", name: id, unitPrice: 10, registrationStatus: "PENDING" });
    rig.simulator.inject({ operation: "registerItem", kind: "drop", match: { itemId: id }, ...fault });
    const input: RegisterItemsInput = { items: [id], force };
    const handle = await rig.env.client.workflow.start(WORKFLOW_TYPES.registerItems, {
      workflowId: registerItemsWorkflowId(SCOPE),
      taskQueue: MAIN_TASK_QUEUE,
      args: [input],
    });
    const outcome = (await handle.result()) as RegisterItemsOutcome;
    await rig.replayed(handle);
    const { startTime, closeTime } = await handle.describe();
    return { outcome, tookMs: (closeTime?.getTime() ?? 0) - startTime.getTime() };
  }

  test("and that left no trace is made again after a pause", async () => {
    const { outcome, tookMs } = await registerLosing("once", { when: "before", times: 1 });
    expect(outcome.counts).toMatchObject({ registered: 1, unclear: 0 });
    expect(asked("once")).toHaveLength(2);
    expect(tookMs).toBeGreaterThanOrEqual(1_000);
    expect(tookMs).toBeLessThan(30_000);
  });

  test("every time, without a trace, is reported as unclear after a few tries, with the last error", async () => {
    const { outcome, tookMs } = await registerLosing("always", { when: "before" });
    expect(outcome.counts).toMatchObject({ registered: 0, unclear: 1 });
    expect(outcome.unclear).toMatchObject([{ item: "always", name: "always", reason: expect.any(String) as string }]);
    expect(asked("always")).toHaveLength(5);
    expect(tookMs).toBeGreaterThanOrEqual(30_000);
    expect(tookMs).toBeLessThan(5 * 60_000);
    const kept = await rig.ledger.items.page(SCOPE, { kinds: ["unclear"], most: 10 });
    expect(kept).toMatchObject([{ item: "always" }]);
  });

  test("is made again where it is forced, though the item shows as registered", async () => {
    const { outcome } = await registerLosing("forced", { when: "after", times: 1 }, true);
    expect(outcome.counts).toMatchObject({ registered: 1 });
    expect(asked("forced")).toHaveLength(2);
  });
});
