import { chmod, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

import { bundleWorkflows, WORKFLOW_BUNDLE_PATH } from "./bundle-workflows.ts";

/**
 * Bundles the compiled workflows, so that no worker spends its start on it; with `--small` as they are published, else
 * for whoever waits to see a change run.
 */
const { code } = await bundleWorkflows(undefined, [], process.argv.includes("--small"));
await writeFile(WORKFLOW_BUNDLE_PATH, code);
// npx makes the command executable once, when it links it: a build from scratch would lose that.
await chmod(fileURLToPath(new URL("../cli/main.js", import.meta.url)), 0o755);
