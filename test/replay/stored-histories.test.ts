import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { DeterminismViolationError } from "@temporalio/workflow";
import { Worker, type WorkflowBundle } from "@temporalio/worker";
import { beforeAll, describe, expect, inject, test } from "vitest";

import { WORKFLOW_TYPES } from "../../src/contract/index.ts";
import { bundleWorkflows } from "../../src/worker/bundle-workflows.ts";
import "../rig/quiet-runtime.ts";

/**
 * Histories of runs of this release, one of each shape. Until 1.0 they may be recorded anew; from then on a stored history never changes,
 * since a sale that began under its release may still be open: a change to a workflow passes them all, or is patched.
 */
const FOLDER = fileURLToPath(new URL("histories", import.meta.url));
const files = (await readdir(FOLDER, { recursive: true })).filter((file) => file.endsWith(".json"));

async function stored(file: string): Promise<StoredHistory> {
  return JSON.parse(await readFile(join(FOLDER, file), "utf8")) as StoredHistory;
}

async function* allStored(): AsyncGenerator<{ workflowId: string; history: StoredHistory }> {
  for (const file of files) yield { workflowId: file, history: await stored(file) };
}

interface StoredHistory {
  events: { workflowExecutionStartedEventAttributes?: { workflowType: { name: string } } }[];
}

const typesOfFiles = await Promise.all(
  files.map(async (file) => {
    const [started] = (await stored(file)).events;
    return [file, started?.workflowExecutionStartedEventAttributes?.workflowType.name] as const;
  }),
);

describe("the stored histories", () => {
  test("are there", () => {
    expect(files.length).toBeGreaterThan(0);
  });

  describe("on the workflows as they are", () => {
    const errors = new Map<string, Error | undefined>();
    beforeAll(async () => {
      const workflowBundle = { codePath: inject("workflowBundlePath") };
      // One worker replays them all. Errors come as results, not as throws.
      for await (const { workflowId, error } of Worker.runReplayHistories({ workflowBundle }, allStored()))
        errors.set(workflowId, error);
    });

    test.each(files)("%s replays", (file) => {
      expect(errors.has(file), "it was replayed").toBe(true);
      expect(errors.get(file)).toBeUndefined();
    });
  });

  describe("of each workflow", () => {
    let changedBundle: WorkflowBundle;
    beforeAll(async () => {
      const workflowsPath = fileURLToPath(new URL("changed-workflows.ts", import.meta.url));
      changedBundle = await bundleWorkflows(workflowsPath);
    });

    test.each(Object.values(WORKFLOW_TYPES))("go red where %s is changed without a patch", async (type) => {
      const file = typesOfFiles.find(([, ofFile]) => ofFile === type)?.[0];
      if (file === undefined) throw new Error(`no history of ${type} is stored: record one (test/rig/replay-all.ts)`);
      const replay = Worker.runReplayHistory({ workflowBundle: changedBundle }, await stored(file), "changed");
      await expect(replay).rejects.toThrow(DeterminismViolationError);
    });
  });
});
