import { writeFile } from "node:fs/promises";

import { bundleWorkflows } from "./bundle-workflows.ts";
import { WORKFLOW_BUNDLE_PATH } from "./workflow-bundle.ts";

/** Part of the build: bundles the compiled workflows, so that no worker spends its start on it. */
const { code } = await bundleWorkflows();
await writeFile(WORKFLOW_BUNDLE_PATH, code);
