import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { WorkflowState } from "../../src/contract/index.ts";
import { type SkippingRig, startSkippingRig } from "../rig/skipping-rig.ts";

describe("a stock movement that the service's limit keeps back for a day", () => {
  let rig: SkippingRig;
  beforeAll(async () => {
    rig = await startSkippingRig();
  });
  afterAll(() => rig?.close());

  test("costs few events, and is made once the limit allows it", async () => {
    const { env, simulator } = rig;
    const limited = { operation: "adjustStock", when: "before", kind: "rate-limit", retryAfterSeconds: 0 } as const;
    // The process waits for the end of a window by its own clock, which the server does not skip.
    const allow = simulator.inject({ ...limited, headers: { "x-ratelimit-reset": "1" } });
    const handle = await rig.startSale("LIMITED-1", { refundWindow: "0" });
    await env.sleep("10 minutes");
    const { stage, stockMovements, serviceTrouble } = await handle.query<WorkflowState>("state");
    expect({ stage, stockMovements }).toMatchObject({ stage: "completed", stockMovements: [{ state: "planned" }] });
    expect(serviceTrouble).toMatchObject({ kind: "rate-limited" });
    const eventsBefore = await rig.eventsOf(handle);
    await env.sleep("1 day");
    expect(await rig.eventsOf(handle)).toBeLessThan(eventsBefore + 100);
    allow();
    expect(await handle.result()).toMatchObject({ stockMovements: [{ state: "applied" }] });
    expect(simulator.books().movements).toHaveLength(1);
    await rig.replayed(handle);
  });
});
