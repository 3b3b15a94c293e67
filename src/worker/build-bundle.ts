import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { bundleWorkflowCode } from "@temporalio/worker";

import { WORKFLOW_BUNDLE_PATH } from "./workflow-bundle.ts";

/** Part of the build: bundles the compiled workflows, so that no worker spends its start on it. */
const workflowsPath = fileURLToPath(new URL("../../workflows/index.js", import.meta.url));
const silent = { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} };
const { code } = await bundleWorkflowCode({ workflowsPath, logger: silent });
await writeFile(WORKFLOW_BUNDLE_PATH, code);
