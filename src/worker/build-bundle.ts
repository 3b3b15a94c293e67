import { writeFile } from "node:fs/promises";

import { bundleWorkflows, WORKFLOW_BUNDLE_PATH } from "./bundle-workflows.ts";

/** Part of the build: bundles the compiled workflows, so that no worker spends its start on it. */
const { code } = await bundleWorkflows();
await writeFile(WORKFLOW_BUNDLE_PATH, code);
