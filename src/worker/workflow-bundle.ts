import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Where the build puts the bundled workflows: beside the compiled `src`, in the package's `dist`. */
export const WORKFLOW_BUNDLE_PATH = fileURLToPath(new URL("../../workflow-bundle.cjs", import.meta.url));

/** @throws Error that says to build */
export function builtWorkflowBundle(path = WORKFLOW_BUNDLE_PATH): { codePath: string } {
  if (existsSync(path)) return { codePath: path };
  throw new Error("The workflows are not bundled yet: run `npm run build`.");
}
