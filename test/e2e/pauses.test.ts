import { tsToMs } from "@temporalio/common/lib/time.js";
import { afterAll, beforeAll, expect, test } from "vitest";

import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { salesOf } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

const HOUR_MS = 3_600_000;

describeWithTemporal("the pause between two attempts", () => {
  let rig: Rig;
  beforeAll(async () => {
    // Without jitter `Retry-After: 0` leaves no pause at all.
    rig = await startRig({ receiver: false, jitter: () => 0, timings: { firstPollMs: 10, longestPollMs: HOUR_MS } });
  });
  afterAll(() => rig?.close());

  const { start } = salesOf(() => rig);

  /** Of the one activity that waits for its next attempt. */
  async function pauseOf(invoice: string): Promise<number> {
    let pauseMs = 0;
    const look = async () => {
      const { raw } = await rig.client.workflow.getHandle(rig.starter.workflowId({ invoice })).describe();
      const [pending] = raw.pendingActivities ?? [];
      pauseMs = tsToMs(pending?.nextAttemptScheduleTime) - tsToMs(pending?.lastAttemptCompleteTime);
      return pending?.lastFailure?.message;
    };
    await expect.poll(look).toBeTruthy();
    return pauseMs;
  }

  test("is short after an attempt that was lost with its worker, whichever attempt it was", async () => {
    const sale = await start("POLICY-1");
    await sale.result();
    const { events } = await sale.fetchHistory();
    const policies = (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: task }) =>
      task?.retryPolicy?.maximumAttempts === 0 ? [task.retryPolicy] : [],
    );
    expect(policies.length).toBeGreaterThan(0);
    for (const policy of policies) {
      expect(policy).toMatchObject({
        backoffCoefficient: 1,
        initialInterval: { seconds: expect.objectContaining({ low: 5 }) },
      });
    }
  });

  test("is short, and another attempt follows, where the service asks for none", async () => {
    rig.simulator.inject({
      operation: "createSale",
      when: "before",
      kind: "rate-limit",
      retryAfterSeconds: 0,
      times: 2,
      match: { invoice: "HASTY-1" },
    });
    const sale = await start("HASTY-1");
    const outcome = await rig.starter.outcome({ invoice: "HASTY-1" }, { waitSeconds: 30 });
    expect(outcome.attention).toBeUndefined();
    expect(await sale.result()).toMatchObject({ stage: "completed" });
    expect(rig.simulator.calls({ operation: "createSale", invoice: "HASTY-1" })).toHaveLength(3);
  });

  // Last: the budget of the key stays closed as long.
  test("is as long as the service says, even beyond the maximum of the retry policy", async () => {
    rig.simulator.inject({
      operation: "createSale",
      when: "before",
      kind: "rate-limit",
      retryAfterSeconds: 600,
      match: { invoice: "LIMITED-1" },
    });
    const sale = await start("LIMITED-1");
    expect(await pauseOf("LIMITED-1")).toBeGreaterThan(599_000);
    await sale.terminate();
  });
});
