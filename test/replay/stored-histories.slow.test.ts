import { fileURLToPath } from "node:url";
import { DeterminismViolationError } from "@temporalio/workflow";
import { type InjectedSinks, Worker, type WorkflowBundle } from "@temporalio/worker";
import { beforeAll, describe, expect, test } from "vitest";

import { WORKFLOW_TYPES } from "../../src/contract/index.ts";
import { bundleWorkflows } from "../../src/worker/bundle-workflows.ts";
import { STAGE_TRANSITIONS } from "../../workflows/sale/state.ts";
import "../rig/quiet-runtime.ts";
import { replayOf } from "../rig/replay-all.ts";
import { type HistoryEvent, storedHistories } from "./stored.ts";
import type { StageSinks } from "./watch-stages.ts";

const stored = await storedHistories();
/** A quiet machine replays them in 20 s. */
const LONGEST_REPLAY_MS = 900_000;

describe("the stored histories", () => {
  test("exist", () => {
    expect(stored.length).toBeGreaterThan(0);
  });

  /**
   * The SDK takes the workflow on within one task where it cancels an activity: what comes then is an upsert of its
   * own.
   */
  test("set search attributes at most once in a workflow task, and once more after an activity is cancelled", () => {
    // The SDK sets one of its own with each patch marker.
    const isOurs = ({ upsertWorkflowSearchAttributesEventAttributes: upsert }: HistoryEvent): boolean =>
      upsert !== undefined && !("TemporalChangeVersion" in upsert.searchAttributes.indexedFields);
    const repeated = stored.filter(({ events }) =>
      events.some((event, at) => {
        const { upsertWorkflowSearchAttributesEventAttributes: upsert } = event;
        if (!upsert || !isOurs(event)) return false;
        const rest = events.slice(at + 1);
        const next = rest.findIndex(isOurs);
        const { workflowTaskCompletedEventId: task } = rest[next]?.upsertWorkflowSearchAttributesEventAttributes ?? {};
        const isCancelled = rest.slice(0, next).some((event) => event.activityTaskCancelRequestedEventAttributes);
        return task === upsert.workflowTaskCompletedEventId && !isCancelled;
      }),
    );
    expect(repeated.map(({ file }) => file)).toEqual([]);
  });

  describe("on the workflows as they are", () => {
    const errors = new Map<string, Error | undefined>();
    /** The steps of sales between stages. */
    const taken = new Set<string>();
    beforeAll(async () => {
      const watch = fileURLToPath(new URL("watch-stages.ts", import.meta.url));
      const workflowBundle = await bundleWorkflows(undefined, [watch]);
      const moved = (_info: unknown, from: string, to: string): void => void taken.add(`${from} → ${to}`);
      const sinks: InjectedSinks<StageSinks> = { stages: { moved: { fn: moved, callDuringReplay: true } } };
      const histories = stored.map(({ file, events }) => ({ workflowId: file, history: { events } }));
      // One worker replays them all. Errors come as results, not as throws.
      const replays = Worker.runReplayHistories({ ...replayOf(workflowBundle), sinks }, histories);
      for await (const { workflowId, error } of replays) errors.set(workflowId, error);
    }, LONGEST_REPLAY_MS);

    test.each(stored)("$file replays", ({ file }) => {
      expect(errors.has(file), "it was replayed").toBe(true);
      expect(errors.get(file)).toBeUndefined();
    });

    test("take every transition between the stages of a sale, and no other one", () => {
      const allowed = Object.entries(STAGE_TRANSITIONS).flatMap(([from, tos]) => tos.map((to) => `${from} → ${to}`));
      expect([...taken].toSorted()).toEqual(allowed.toSorted());
    });
  });

  describe("of each workflow", () => {
    let changedBundle: WorkflowBundle;
    beforeAll(async () => {
      const workflowsPath = fileURLToPath(new URL("changed-workflows.ts", import.meta.url));
      changedBundle = await bundleWorkflows(workflowsPath);
    });

    test.each(Object.values(WORKFLOW_TYPES))("go red where %s is changed without a patch", async (changed) => {
      const history = stored.find(({ type }) => type === changed);
      if (!history) throw new Error(`no history of ${changed} is stored: record one (test/rig/replay-all.ts)`);
      const { events } = history;
      const replay = Worker.runReplayHistory(replayOf(changedBundle), { events }, "changed");
      await expect(replay).rejects.toThrow(DeterminismViolationError);
    });
  });
});
