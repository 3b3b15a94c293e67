import { WorkflowUpdateFailedError } from "@temporalio/client";
import { afterAll, beforeAll, expect, test } from "vitest";

import {
  type JobState,
  MAIN_TASK_QUEUE,
  reconcileWorkflowId,
  registerItemsWorkflowId,
  STATE_QUERY,
  UPDATES,
  WORKFLOW_TYPES,
} from "../../src/contract/index.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { salesOf } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

const SCOPE = { connection: "default", businessId: "biz_1" };
const SCOPES = ["sales:read", "sales:write", "catalog:read", "catalog:write", "stock:write"] as const;
const ITEMS = 30;
const SALES = 15;
/** Each makes all calls of the job anew, which are refused again. */
const MOST_RETRIES = 50;

describeWithTemporal("a job whose calls are refused again and again", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({ receiver: false });
  });
  afterAll(() => rig?.close());
  const { start } = salesOf(() => rig);

  const allow = (allowed: readonly (typeof SCOPES)[number][]): void =>
    rig.simulator.setKey("cmp_sk_test_simulator", { scopes: [...allowed] });

  async function parked(workflowId: string): Promise<void> {
    const look = () => rig.client.workflow.getHandle(workflowId).query<JobState<object>>(STATE_QUERY);
    await expect.poll(async () => (await look()).attentions[0]?.code).toBe("credentials");
  }

  /**
   * The length of the first run's history, once a second one has begun; and what that comes to with the permission
   * there again.
   */
  async function retriedUntilContinued(workflowId: string): Promise<{ events: number; result: unknown }> {
    const latest = rig.client.workflow.getHandle(workflowId);
    const { runId } = await latest.describe();
    const retry = () =>
      latest.executeUpdate(UPDATES.retry, { args: [{}] }).catch((error: unknown) => {
        // Between two runs, or while all calls are under way, there is nothing to retry.
        if (!(error instanceof Error)) throw error;
      });
    for (let retries = 0; (await latest.describe()).runId === runId; retries++) {
      expect(retries).toBeLessThan(MOST_RETRIES);
      await parked(workflowId);
      // It leaves nothing in the history: what a run did upon it, a replay would not do.
      await expect(latest.executeUpdate(UPDATES.acknowledge, { args: [{}] })).rejects.toThrow(
        WorkflowUpdateFailedError,
      );
      await retry();
    }
    await parked(workflowId);
    allow(SCOPES);
    await retry();
    const { events } = await rig.client.workflow.getHandle(workflowId, runId).fetchHistory();
    return { events: events?.length ?? 0, result: await latest.result() };
  }

  test("goes on as a new run in the middle of a chunk of items, and counts each once", async () => {
    const items = Array.from({ length: ITEMS }, (_, n) => `long_${String(n).padStart(2, "0")}`);
    for (const id of items)
      rig.simulator.addItem({ id, businessId: "biz_1", name: id, unitPrice: 10, registrationStatus: "PENDING" });
    allow(SCOPES.filter((scope) => scope !== "catalog:write"));
    const workflowId = registerItemsWorkflowId(SCOPE);
    const options = { workflowId, taskQueue: MAIN_TASK_QUEUE, args: [{ ...SCOPE, items }] };
    await rig.client.workflow.start(WORKFLOW_TYPES.registerItems, options);
    const { events, result } = await retriedUntilContinued(workflowId);
    expect(events).toBeLessThan(2_000);
    expect(result).toMatchObject({ counts: { registered: ITEMS, refused: 0, unclear: 0 } });
  });

  test("continues as new in the middle of a page of documents, and counts each document once", async () => {
    const sales = await Promise.all(Array.from({ length: SALES }, (_, n) => start(`LONG-${n}`)));
    for (const sale of sales) await sale.result();
    allow(SCOPES.filter((scope) => scope !== "sales:read"));
    const workflowId = reconcileWorkflowId(SCOPE);
    const options = { workflowId, taskQueue: MAIN_TASK_QUEUE, args: [SCOPE] };
    await rig.client.workflow.start(WORKFLOW_TYPES.reconcile, options);
    const { events, result } = await retriedUntilContinued(workflowId);
    expect(events).toBeLessThan(2_000);
    expect(result).toMatchObject({ documents: SALES, final: SALES, differing: 0 });
  });
});
