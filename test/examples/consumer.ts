import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
/** The packages beside the product, each of `packages/` and `@fiscalflow/`. */
export const PACKAGES = ["client", "receipt"] as const;

type PackageName = (typeof PACKAGES)[number];

const EXAMPLES = join(ROOT, "examples");
const TSC = join(ROOT, "node_modules/typescript/bin/tsc");
/** What a user installs beside the packages, to compile and run the examples; the last for a workflow's use of Nexus. */
const BESIDE = ["@temporalio/envconfig", "@types/node", "@temporalio/workflow"];

const run = promisify(execFile);

export interface Manifest {
  version: string;
  exports: Record<string, unknown>;
  dependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
}

export interface CompileOptions {
  module: string;
  moduleResolution: string;
  outDir?: string;
  skipLibCheck?: boolean;
}

/**
 * The project of somebody who uses the packages as they are built: outside of the repository, with the packed
 * packages and, of what is installed here, only what they declare; with the examples as its source. `fiscalflow` itself
 * is found by its `exports`.
 */
export interface Consumer {
  folder: string;
  /** The examples' file names. */
  examples: string[];
  /** Of the packages, as they were packed. */
  manifests: Record<PackageName, Manifest>;
  /** Compiles the examples, and every declaration that they reach. @throws with what the compiler says */
  compile(options: CompileOptions): Promise<void>;
  /** The names that an entry of a package exports at run time, sorted. */
  valuesOf(entry: string): Promise<string[]>;
  remove(): Promise<void>;
}

/** An empty project outside of the repository, and the tarballs of the packages in it. */
export async function packIntoProject(): Promise<{ folder: string; tarballs: Record<PackageName, string> }> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "fiscalflow-consumer-")));
  await writeFile(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
  // Built by the set-up of the run: suites that build it at once would take its files from each other.
  const pack = async (name: PackageName): Promise<string> => {
    const argv = ["pack", "--ignore-scripts", "--silent", "--pack-destination", folder];
    const { stdout } = await run("npm", argv, { cwd: join(ROOT, "packages", name) });
    return join(folder, stdout.trim());
  };
  return { folder, tarballs: { client: await pack("client"), receipt: await pack("receipt") } };
}

/** The packages that a package needs. */
export function declaredBy({ dependencies, peerDependencies }: Manifest): string[] {
  return Object.keys({ ...dependencies, ...peerDependencies });
}

/** Compiles files of the project for a user who is strict with types. @throws with what the compiler says */
export async function compileStrictly(
  folder: string,
  files: readonly string[],
  { module, moduleResolution, outDir, skipLibCheck = false }: CompileOptions,
): Promise<void> {
  const emit = outDir === undefined ? ["--noEmit"] : ["--outDir", outDir];
  const strict = ["--strict", "--noUncheckedIndexedAccess", "--target", "es2023", "--types", "node"];
  // Both as `tsc --init` sets them: Temporal's own declarations do not compile with the second alone.
  if (skipLibCheck) strict.push("--skipLibCheck", "--exactOptionalPropertyTypes");
  const resolution = ["--module", module, "--moduleResolution", moduleResolution];
  await run(process.execPath, [TSC, ...strict, ...resolution, ...emit, ...files], { cwd: folder }).catch(
    (error: Error & { stdout?: string }) => {
      throw new Error(error.stdout || error.message, { cause: error });
    },
  );
}

export async function createConsumer(): Promise<Consumer> {
  const { folder, tarballs } = await packIntoProject();
  const examples = (await readdir(EXAMPLES)).filter((name) => name.endsWith(".ts")).toSorted();
  for (const name of examples) await cp(join(EXAMPLES, name), join(folder, name));
  const modules = join(folder, "node_modules");
  const unpack = async (name: PackageName): Promise<Manifest> => {
    const unpacked = join(modules, "@fiscalflow", name);
    await mkdir(unpacked, { recursive: true });
    await run("tar", ["-xzf", tarballs[name], "--strip-components=1", "-C", unpacked]);
    return JSON.parse(await readFile(join(unpacked, "package.json"), "utf8")) as Manifest;
  };
  const manifests = { client: await unpack("client"), receipt: await unpack("receipt") };
  for (const name of [...Object.values(manifests).flatMap(declaredBy), ...BESIDE]) {
    await mkdir(dirname(join(modules, name)), { recursive: true });
    await symlink(join(ROOT, "node_modules", name), join(modules, name), "dir");
  }
  await symlink(ROOT, join(modules, "fiscalflow"), "dir");

  return {
    folder,
    examples,
    manifests,
    compile: (options) => compileStrictly(folder, examples, options),
    async valuesOf(entry) {
      const program = `process.stdout.write(JSON.stringify(Object.keys(await import(${JSON.stringify(entry)}))))`;
      const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", program], { cwd: folder });
      return (JSON.parse(stdout) as string[]).toSorted();
    },
    remove: () => rm(folder, { recursive: true }),
  };
}
