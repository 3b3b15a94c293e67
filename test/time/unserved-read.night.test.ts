import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { WorkflowState } from "../../src/contract/index.ts";
import { type SkippingRig, startSkippingRig } from "../rig/skipping-rig.ts";

/** The server skips the pauses of activities, and not those of the process, which it does not know. */
const SETTINGS = { FISCALFLOW_TIMING_UNSERVED_AFTER_MS: "600000", FISCALFLOW_TIMING_FAILING_PAUSE_MS: "1" };

describe("a read that the API does not serve", () => {
  let rig: SkippingRig;
  beforeAll(async () => {
    rig = await startSkippingRig(SETTINGS);
  });
  afterAll(() => rig?.close());

  test("is shown to an operator after its time, and the sale goes on by itself once the API is back", async () => {
    const { env, simulator } = rig;
    const isBack = simulator.inject({ operation: "*", when: "before", kind: "status", status: 503 });
    const handle = await rig.startSale("AWAY-1", { refundWindow: "0" });
    const shown = () => handle.query<WorkflowState>("state");
    await env.sleep("5 minutes");
    expect(await shown()).toMatchObject({ stage: "resolving-items", attentions: [] });
    await env.sleep("10 minutes");
    const message: unknown = expect.stringMatching(/^The service does not serve this call\. readItems: .*503/);
    expect((await shown()).attentions).toMatchObject([{ code: "unexpected-answer", resolvedBy: ["retry"], message }]);
    const events = await rig.eventsOf(handle);
    await env.sleep("8 hours");
    expect(await rig.eventsOf(handle)).toBe(events);
    const { attentions } = await shown();
    expect((await env.currentTimeMs()) - (attentions[0]?.sinceMs ?? Infinity)).toBeGreaterThan(8 * 3_600_000);
    isBack();
    expect(await handle.result()).toMatchObject({ stage: "completed" });
    await rig.replayed(handle);
  });
});
