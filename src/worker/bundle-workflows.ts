import { existsSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { type BundleOptions, bundleWorkflowCode } from "@temporalio/worker";

/** Sources and what is compiled of them stand in the same order. */
const EXTENSION = extname(import.meta.url);
/** Terser's options: the names that a stack shows stay, and the lines that the map needs. */
const SMALLER = {
  compress: false,
  mangle: { keep_classnames: true, keep_fnames: true },
  format: { comments: false, beautify: true, indent_level: 0 },
};
/**
 * Each workflow in the cache has its own instance of each module of ours. Modules joined into one have no objects of
 * exports, which were a tenth of what a worker with 500 workflows takes.
 */
const SMALL = {
  minimize: { javascript: SMALLER },
  moduleIds: "natural",
  providedExports: true,
  usedExports: true,
  concatenateModules: true,
} as const;
const silent = { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} };

/**
 * The code of the workflows with the interceptors that all of them have, as one script.
 * @param workflowsPath for a test: other workflows
 * @param interceptors for a test: modules with more interceptors
 * @param small as it is published; takes thrice the time
 */
export async function bundleWorkflows(
  workflowsPath = pathOf("index"),
  interceptors: readonly string[] = [],
  small = false,
): Promise<{ code: string }> {
  const converters = pathOf("sdk/interceptors");
  return await bundleQuietly(workflowsPath, {
    workflowInterceptorModules: [converters, ...interceptors],
    payloadConverterPath: converters,
    failureConverterPath: converters,
    small,
  });
}

/**
 * The same workflows for a worker that encrypts: their failures hand their words to the codec (`failureConverter` in
 * `workflows/sdk/interceptors.ts`).
 */
export async function encodingFailures(bundle: { codePath: string } | { code: string }): Promise<{ code: string }> {
  const code = "code" in bundle ? bundle.code : await readFile(bundle.codePath, "utf8");
  // In the first line, so that the source map stays right.
  return { code: `globalThis.fiscalflowEncodesFailures = true; ${code}` };
}

/** Without what the bundler tells of its progress. */
export async function bundleQuietly(
  workflowsPath: string,
  { small = false, ...options }: Partial<BundleOptions> & { small?: boolean } = {},
): Promise<{ code: string }> {
  return await bundleWorkflowCode({
    workflowsPath,
    ...options,
    logger: silent,
    // A stack names a file of the sources and its line, and no path of the machine that built it. The sources
    // themselves would be half of the bundle.
    webpackConfigHook: (config) => ({
      ...config,
      devtool: "inline-nosources-cheap-module-source-map",
      output: { ...config.output, pathinfo: false, devtoolModuleFilenameTemplate: "[resource-path]" },
      ...(small && { optimization: SMALL }),
    }),
  });
}

function pathOf(module: string): string {
  return fileURLToPath(new URL(`../../workflows/${module}${EXTENSION}`, import.meta.url));
}

/** Where the build puts the bundled workflows: beside the compiled `src`, in the package's `dist`. */
export const WORKFLOW_BUNDLE_PATH = fileURLToPath(new URL("../../workflow-bundle.cjs", import.meta.url));

/** @throws Error that says to build */
export function builtWorkflowBundle(path = WORKFLOW_BUNDLE_PATH): { codePath: string } {
  if (existsSync(path)) return { codePath: path };
  throw new Error("The workflows are not bundled yet: run `npm run build`.");
}

/** What this build is called among the versions of a Worker Deployment. @throws Error that says to build */
export function builtBuildId(): string {
  const path = fileURLToPath(new URL("../../build-id", import.meta.url));
  if (existsSync(path)) return readFileSync(path, "utf8").trim();
  throw new Error("This build has no id, which FISCALFLOW_DEPLOYMENT needs: run `npm run build`.");
}
