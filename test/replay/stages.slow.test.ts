import { fileURLToPath } from "node:url";
import { type InjectedSinks, Worker } from "@temporalio/worker";
import { expect, test } from "vitest";

import { WORKFLOW_TYPES } from "../../src/contract/index.ts";
import { bundleWorkflows } from "../../src/worker/bundle-workflows.ts";
import { STAGE_TRANSITIONS } from "../../workflows/sale/state.ts";
import "../rig/quiet-runtime.ts";
import { storedHistories } from "./stored.ts";
import type { StageSinks } from "./watch-stages.ts";

test("the stored histories take every transition between stages, and no other one", async () => {
  const watch = fileURLToPath(new URL("watch-stages.ts", import.meta.url));
  const workflowBundle = await bundleWorkflows(undefined, [watch]);
  const taken = new Set<string>();
  const moved = (_info: unknown, from: string, to: string): void => void taken.add(`${from} → ${to}`);
  const sinks: InjectedSinks<StageSinks> = { stages: { moved: { fn: moved, callDuringReplay: true } } };
  const histories = (await storedHistories())
    .filter(({ type }) => type === WORKFLOW_TYPES.sale)
    .map(({ file, events }) => ({ workflowId: file, history: { events } }));
  for await (const { error } of Worker.runReplayHistories({ workflowBundle, sinks }, histories))
    expect(error).toBeUndefined();
  const allowed = Object.entries(STAGE_TRANSITIONS).flatMap(([from, tos]) => tos.map((to) => `${from} → ${to}`));
  expect([...taken].toSorted()).toEqual(allowed.toSorted());
});
