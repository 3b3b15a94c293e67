import type { WorkflowHandle } from "@temporalio/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { WorkflowState } from "../../src/contract/index.ts";
import { type SkippingRig, startSkippingRig } from "../rig/skipping-rig.ts";

const HOUR_MS = 3_600_000;
/** Half an hour is one look, and each look takes its moment: 336 of them in a week. */
const LONG_MS = 300_000;
const SCOPES = ["sales:read", "sales:write", "catalog:read", "catalog:write", "stock:write"] as const;

describe("a week of a refused key", () => {
  let rig: SkippingRig;
  beforeAll(async () => {
    rig = await startSkippingRig();
    // What is refused tells no limit, and without one a week of looks meets the budget of the minutes that the test
    // takes.
    await (await rig.startSale("LIMIT-1", { refundWindow: "0" })).result();
  });
  afterAll(() => rig?.close());

  const attentionOf = async (handle: WorkflowHandle) =>
    (await handle.query<WorkflowState>("state")).attentions.find(({ code }) => code === "credentials");

  /** In steps: the server ends a connection on which one request is waited for too long. */
  async function pass(days: number): Promise<void> {
    for (let quarters = days * 4; quarters > 0; quarters--) await rig.env.sleep("6 hours");
  }

  /** How often an operator was notified that they are needed, or no longer. */
  const changesOf = async (handle: WorkflowHandle): Promise<number> =>
    ((await handle.fetchHistory()).events ?? []).filter(
      ({ upsertWorkflowSearchAttributesEventAttributes: upserted }) =>
        upserted?.searchAttributes?.indexedFields?.["FiscalAttention"],
    ).length;

  const withoutScope = (missing: (typeof SCOPES)[number]): void =>
    rig.simulator.setKey("cmp_sk_test_simulator", { scopes: SCOPES.filter((scope) => scope !== missing) });
  const withAllScopes = (): void => rig.simulator.setKey("cmp_sk_test_simulator", { scopes: [...SCOPES] });

  test(
    "adds nothing to a sale's history, and its attention keeps its start",
    async () => {
      rig.simulator.setApplication("simulator", { suspended: true });
      const handle = await rig.startSale("REVOKED-1", { refundWindow: "0" });
      await rig.env.sleep("1 hour");
      const early = { attention: await attentionOf(handle), events: await rig.eventsOf(handle) };
      await rig.env.sleep("6 hours");
      expect(await attentionOf(handle)).toMatchObject({ sinceMs: early.attention?.sinceMs });
      await pass(7);
      expect(await attentionOf(handle)).toEqual(early.attention);
      expect(await rig.eventsOf(handle)).toBe(early.events);
      expect(await changesOf(handle)).toBe(1);
      rig.simulator.setApplication("simulator", { suspended: false });
      const worksAgainAtMs = await rig.env.currentTimeMs();
      expect(await handle.result()).toMatchObject({ stage: "completed" });
      const closedAtMs = (await handle.describe()).closeTime?.getTime() ?? Infinity;
      expect(closedAtMs - worksAgainAtMs).toBeLessThan(HOUR_MS);
      expect(await changesOf(handle)).toBe(2);
      await rig.replayed(handle);
    },
    LONG_MS,
  );

  test.each([
    ["to issue sales", "FORBIDDEN-1", "sales:write"],
    ["to move stock", "FORBIDDEN-2", "stock:write"],
  ] as const)(
    "that lacks the permission %s costs few events and one attention",
    async (_what, invoice, scope) => {
      withoutScope(scope);
      const handle = await rig.startSale(invoice, { refundWindow: "0" });
      await rig.env.sleep("1 hour");
      const since = (await attentionOf(handle))?.sinceMs;
      expect(since).toBeDefined();
      await pass(3);
      expect(await attentionOf(handle)).toMatchObject({ sinceMs: since });
      expect(await rig.eventsOf(handle)).toBeLessThan(400);
      expect(await changesOf(handle)).toBe(1);
      withAllScopes();
      expect(await handle.result()).toMatchObject({ stage: "completed", stockMovements: [{ state: "applied" }] });
      await rig.replayed(handle);
    },
    LONG_MS,
  );

  test(
    "ends for every waiting sale with the first call that has the permission again",
    async () => {
      withoutScope("sales:write");
      const quiet = await rig.startSale("QUIET-1", { refundWindow: "0" });
      await pass(2);
      withAllScopes();
      const worksAgainAtMs = await rig.env.currentTimeMs();
      await rig.env.sleep("15 minutes");
      const next = await rig.startSale("QUIET-2", { refundWindow: "0" });
      expect(await next.result()).toMatchObject({ stage: "completed" });
      expect(await quiet.result()).toMatchObject({ stage: "completed" });
      const closedAtMs = (await quiet.describe()).closeTime?.getTime() ?? Infinity;
      expect(closedAtMs - worksAgainAtMs).toBeLessThan(HOUR_MS);
    },
    LONG_MS,
  );
});

describe("a write whose answers are lost for days", () => {
  let rig: SkippingRig;
  beforeAll(async () => {
    rig = await startSkippingRig();
  });
  afterAll(() => rig?.close());

  test("is shown to an operator, costs few events, and succeeds in the end without help", async () => {
    const { simulator } = rig;
    simulator.setAuthority("LOST-RETRY-1", [{ do: "reject", reason: "not today" }, { do: "accept" }]);
    const removeFault = simulator.inject({ operation: "retry", when: "before", kind: "status", status: 503 });
    const handle = await rig.startSale("LOST-RETRY-1", { refundWindow: "0" });
    await rig.env.sleep("2 hours");
    const { attentions } = await handle.query<WorkflowState>("state");
    expect(attentions).toMatchObject([{ code: "unexpected-answer", resolvedBy: ["retry", "cancel"] }]);
    await rig.env.sleep("5 days");
    const state = await handle.query<WorkflowState>("state");
    expect(state.attentions[0]?.sinceMs).toBe(attentions[0]?.sinceMs);
    expect(await rig.eventsOf(handle)).toBeLessThan(1_000);
    removeFault();
    expect(await handle.result()).toMatchObject({ stage: "completed" });
    await rig.replayed(handle);
  });
});
