import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const CLIENT = join(ROOT, "packages/client");
const EXAMPLES = join(ROOT, "examples");
const TSC = join(ROOT, "node_modules/typescript/bin/tsc");
/** What a user installs beside the client package, to compile and run the examples. */
const BESIDE = ["@temporalio/envconfig", "@types/node"];

const run = promisify(execFile);

export interface Manifest {
  version: string;
  exports: Record<string, unknown>;
  dependencies: Record<string, string>;
  peerDependencies: Record<string, string>;
}

export interface CompileOptions {
  module: string;
  moduleResolution: string;
  outDir?: string;
  skipLibCheck?: boolean;
}

/**
 * The project of somebody who uses the packages as they are built: outside of the repository, with the packed client
 * package and, of what is installed here, only what it declares; with the examples as its source. `fiscalflow` itself
 * is found by its `exports`.
 */
export interface Consumer {
  folder: string;
  /** The examples' file names. */
  examples: string[];
  /** Of the client package, as it was packed. */
  manifest: Manifest;
  /** Compiles the examples, and every declaration that they reach. @throws with what the compiler says */
  compile(options: CompileOptions): Promise<void>;
  /** The names that an entry of a package exports at run time, sorted. */
  valuesOf(entry: string): Promise<string[]>;
  remove(): Promise<void>;
}

/** An empty project outside of the repository, and the client package's tarball in it. */
export async function packIntoProject(): Promise<{ folder: string; tarball: string }> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "fiscalflow-consumer-")));
  await writeFile(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
  // Built by the set-up of the run: suites that build it at once would take its files from each other.
  const { stdout } = await run("npm", ["pack", "--ignore-scripts", "--silent", "--pack-destination", folder], {
    cwd: CLIENT,
  });
  return { folder, tarball: join(folder, stdout.trim()) };
}

/** Compiles files of the project for a user who is strict with types. @throws with what the compiler says */
export async function compileStrictly(
  folder: string,
  files: readonly string[],
  { module, moduleResolution, outDir, skipLibCheck = false }: CompileOptions,
): Promise<void> {
  const emit = outDir === undefined ? ["--noEmit"] : ["--outDir", outDir];
  const strict = ["--strict", "--noUncheckedIndexedAccess", "--target", "es2023", "--types", "node"];
  if (skipLibCheck) strict.push("--skipLibCheck");
  const resolution = ["--module", module, "--moduleResolution", moduleResolution];
  await run(process.execPath, [TSC, ...strict, ...resolution, ...emit, ...files], { cwd: folder }).catch(
    (error: Error & { stdout?: string }) => {
      throw new Error(error.stdout || error.message, { cause: error });
    },
  );
}

export async function createConsumer(): Promise<Consumer> {
  const { folder, tarball } = await packIntoProject();
  const examples = (await readdir(EXAMPLES)).filter((name) => name.endsWith(".ts")).toSorted();
  for (const name of examples) await cp(join(EXAMPLES, name), join(folder, name));
  const modules = join(folder, "node_modules");
  const client = join(modules, "@fiscalflow/client");
  await mkdir(client, { recursive: true });
  await run("tar", ["-xzf", tarball, "--strip-components=1", "-C", client]);
  const manifest = JSON.parse(await readFile(join(client, "package.json"), "utf8")) as Manifest;
  const declared = [...Object.keys(manifest.dependencies), ...Object.keys(manifest.peerDependencies)];
  for (const name of [...declared, ...BESIDE]) {
    await mkdir(dirname(join(modules, name)), { recursive: true });
    await symlink(join(ROOT, "node_modules", name), join(modules, name), "dir");
  }
  await symlink(ROOT, join(modules, "fiscalflow"), "dir");

  return {
    folder,
    examples,
    manifest,
    compile: (options) => compileStrictly(folder, examples, options),
    async valuesOf(entry) {
      const program = `process.stdout.write(JSON.stringify(Object.keys(await import(${JSON.stringify(entry)}))))`;
      const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", program], { cwd: folder });
      return (JSON.parse(stdout) as string[]).toSorted();
    },
    remove: () => rm(folder, { recursive: true }),
  };
}
