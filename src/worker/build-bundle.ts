import { chmod, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

import { bundleWorkflows, WORKFLOW_BUNDLE_PATH } from "./bundle-workflows.ts";

/** Bundles the compiled workflows as they are published, so that no worker spends its start on it. */
const { code } = await bundleWorkflows(undefined, [], true);
await writeFile(WORKFLOW_BUNDLE_PATH, code);
// npx makes the command executable once, when it links it: a build from scratch would lose that.
await chmod(fileURLToPath(new URL("../main.js", import.meta.url)), 0o755);
