import { msToTs } from "@temporalio/common/lib/time.js";
import { defaultPayloadConverter } from "@temporalio/common";
import { expect } from "vitest";

import type { Rig } from "./start-rig.ts";

/** `PENDING_ACTIVITY_STATE_STARTED` of Temporal's API. */
const STARTED = 2;

/** What an operator does to the activities of a sale in Temporal's UI, or with `temporal activity`. */
export function activitiesByHand(rig: () => Rig) {
  const idOf = (invoice: string): string => rig().starter.workflowId({ invoice });

  async function pending(invoice: string, type: string, isStarted = false): Promise<string> {
    const of = async (): Promise<string> => {
      const { raw } = await rig().client.workflow.getHandle(idOf(invoice)).describe();
      const meant = raw.pendingActivities?.find(
        ({ activityType, state }) => activityType?.name === type && (!isStarted || state === STARTED),
      );
      return meant?.activityId ?? "";
    };
    let id = "";
    await expect.poll(async () => (id = await of())).not.toBe("");
    return id;
  }

  return {
    /** Once it runs, as `temporal activity fail` does. */
    fail: async (invoice: string, type: string): Promise<void> => {
      await rig().client.workflowService.respondActivityTaskFailedById({
        namespace: rig().namespace,
        workflowId: idOf(invoice),
        activityId: await pending(invoice, type, true),
        failure: { message: "by mistake", source: "CLI", applicationFailureInfo: { nonRetryable: true } },
      });
    },
    /** Once it runs, as `temporal activity complete --result` does. */
    complete: async (invoice: string, type: string, result: unknown): Promise<void> => {
      const { metadata, data } = defaultPayloadConverter.toPayload(result) ?? {};
      await rig().client.workflowService.respondActivityTaskCompletedById({
        namespace: rig().namespace,
        workflowId: idOf(invoice),
        activityId: await pending(invoice, type, true),
        result: { payloads: [{ metadata, data }] },
      });
    },
    /** As `temporal activity update-options --schedule-to-close-timeout` does. */
    setDeadline: async (invoice: string, type: string, seconds: number): Promise<void> => {
      await rig().client.workflowService.updateActivityOptions({
        namespace: rig().namespace,
        execution: { workflowId: idOf(invoice) },
        id: await pending(invoice, type),
        activityOptions: { scheduleToCloseTimeout: { seconds: msToTs(seconds * 1_000).seconds } },
        updateMask: { paths: ["schedule_to_close_timeout"] },
      });
    },
    /** As `temporal activity update-options --retry-maximum-attempts` does. */
    setMaximumAttempts: async (invoice: string, type: string, maximumAttempts: number): Promise<void> => {
      await rig().client.workflowService.updateActivityOptions({
        namespace: rig().namespace,
        execution: { workflowId: idOf(invoice) },
        id: await pending(invoice, type),
        activityOptions: { retryPolicy: { maximumAttempts } },
        updateMask: { paths: ["retry_policy.maximum_attempts"] },
      });
    },
    /** How often a worker has failed a workflow task of the sale, with what. */
    taskFailures: async (invoice: string): Promise<string[]> => {
      const { events } = await rig().client.workflow.getHandle(idOf(invoice)).fetchHistory();
      return (events ?? []).flatMap((event) => event.workflowTaskFailedEventAttributes?.failure?.message ?? []);
    },
  };
}
