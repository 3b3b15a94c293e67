import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const EXAMPLES = join(ROOT, "examples");
const TSC = join(ROOT, "node_modules/typescript/bin/tsc");
/** What a user installs beside the package, to start a sale from TypeScript. */
const BESIDE = ["@temporalio/client", "@temporalio/envconfig", "@types/node"];

const run = promisify(execFile);

/**
 * The project of somebody who uses the package as it is built: outside of the repository, so that `fiscalflow` is found
 * by `exports` alone, and with the examples as its source.
 */
export interface Consumer {
  folder: string;
  /** The examples' file names. */
  examples: string[];
  /** Compiles the examples, and every declaration that they reach. @throws with what the compiler says */
  compile(options: { module: string; moduleResolution: string; outDir?: string }): Promise<void>;
  /** The names that an entry of the package exports at run time, sorted. */
  valuesOf(entry: string): Promise<string[]>;
  remove(): Promise<void>;
}

export async function createConsumer(): Promise<Consumer> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "fiscalflow-consumer-")));
  const examples = (await readdir(EXAMPLES)).filter((name) => name.endsWith(".ts")).toSorted();
  for (const name of examples) await cp(join(EXAMPLES, name), join(folder, name));
  await writeFile(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  for (const scope of ["@temporalio", "@types"]) await mkdir(join(folder, "node_modules", scope), { recursive: true });
  await symlink(ROOT, join(folder, "node_modules/fiscalflow"), "dir");
  for (const name of BESIDE) await symlink(join(ROOT, "node_modules", name), join(folder, "node_modules", name), "dir");

  return {
    folder,
    examples,
    async compile({ module, moduleResolution, outDir }) {
      const emit = outDir === undefined ? ["--noEmit"] : ["--outDir", outDir];
      const strict = ["--strict", "--noUncheckedIndexedAccess", "--target", "es2023", "--types", "node"];
      const resolution = ["--module", module, "--moduleResolution", moduleResolution];
      await run(process.execPath, [TSC, ...strict, ...resolution, ...emit, ...examples], { cwd: folder }).catch(
        (error: Error & { stdout?: string }) => {
          throw new Error(error.stdout || error.message, { cause: error });
        },
      );
    },
    async valuesOf(entry) {
      const program = `process.stdout.write(JSON.stringify(Object.keys(await import(${JSON.stringify(entry)}))))`;
      const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", program], { cwd: folder });
      return (JSON.parse(stdout) as string[]).toSorted();
    },
    remove: () => rm(folder, { recursive: true }),
  };
}
