import { readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { DeterminismViolationError } from "@temporalio/workflow";
import { bundleWorkflowCode, Worker } from "@temporalio/worker";
import { describe, expect, inject, test } from "vitest";

import "../rig/quiet-runtime.ts";

/**
 * Histories of earlier releases, which never change: a sale that began under one of them may still be open. A change to a workflow
 * passes them all, or is patched.
 */
const FOLDER = fileURLToPath(new URL("histories", import.meta.url));
const files = (await readdir(FOLDER, { recursive: true })).filter((file) => file.endsWith(".json"));

async function stored(file: string): Promise<unknown> {
  return JSON.parse(await readFile(join(FOLDER, file), "utf8"));
}

describe("the stored histories", () => {
  test("are there", () => {
    expect(files.length).toBeGreaterThan(0);
  });

  test.each(files)("%s replays", async (file) => {
    const workflowBundle = { codePath: inject("workflowBundlePath") };
    const replay = Worker.runReplayHistory({ workflowBundle }, await stored(file), basename(file, ".json"));
    await expect(replay).resolves.toBeUndefined();
  });

  test("go red for a workflow that was changed without a patch", async () => {
    const workflowsPath = fileURLToPath(new URL("changed-workflows.ts", import.meta.url));
    const silent = { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} };
    const workflowBundle = await bundleWorkflowCode({ workflowsPath, logger: silent });
    const replay = Worker.runReplayHistory({ workflowBundle }, await stored(files[0] ?? ""), "changed");
    await expect(replay).rejects.toThrow(DeterminismViolationError);
  });
});
