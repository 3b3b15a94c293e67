import { randomBytes } from "node:crypto";
import { chmod, chown, mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { LedgerUnavailableError } from "../errors.ts";
import { codeOf, commandTrouble, fileTrouble } from "./file-trouble.ts";
import type { Binaries } from "./find-binaries.ts";
import type { Place } from "./find-place.ts";
import { runCommand } from "./run-command.ts";

/** The data of a home's server, and the password to it. */
export interface Cluster {
  readonly data: string;
  readonly password: string;
}

export const SERVER_USER = "fiscalflow";
const HALF_MADE = ".cluster-";
/** initdb takes a second; what is so old has been left by a process that was killed. */
const LEFT_BEHIND_MS = 10 * 60_000;

/**
 * The cluster of the place, made when there is none: in a folder of its own that gets its name in one step when all is
 * there. So a half-made one is never taken for whole, and of many processes at once the first to finish wins, without a
 * lock.
 * @throws LedgerUnavailableError
 */
export async function makeCluster(
  place: Place,
  binaries: Binaries,
  onProgress: (line: string) => void,
): Promise<Cluster> {
  const cluster = join(place.base, "cluster");
  const data = join(cluster, "data");
  try {
    if (!(await hasVersion(data))) {
      onProgress("making the ledger's database");
      await removeLeftBehind(place.base);
      await initialise(place, binaries, cluster);
    }
    await checkVersion(data, binaries, place);
    return { data, password: (await readFile(join(cluster, "password"), "utf8")).trim() };
  } catch (error) {
    throw error instanceof LedgerUnavailableError ? error : fileTrouble(cluster, error);
  }
}

async function initialise(place: Place, binaries: Binaries, cluster: string): Promise<void> {
  const half = join(place.base, `${HALF_MADE}${randomBytes(6).toString("hex")}`);
  const passwordFile = join(half, "password");
  try {
    await mkdir(half, { mode: 0o700 });
    await writeFile(passwordFile, `${randomBytes(24).toString("hex")}\n`, { mode: 0o600, flush: true });
    if (place.runAs) for (const path of [half, passwordFile]) await chown(path, place.runAs.uid, place.runAs.gid);
    await chmod(half, 0o700);
    const made = await runCommand(
      join(binaries.folder, "initdb"),
      [
        `--pgdata=${join(half, "data")}`,
        `--username=${SERVER_USER}`,
        `--pwfile=${passwordFile}`,
        "--auth=scram-sha-256",
        "--encoding=UTF8",
        "--locale=C",
        "--data-checksums",
        "--no-instructions",
      ],
      { cwd: place.base, runAs: place.runAs },
    );
    if (!made.succeeded) throw commandTrouble(`PostgreSQL could not make its data in ${place.base}.`, made.output);
    await rename(half, cluster);
    await syncFolder(place.base);
  } catch (error) {
    await rm(half, { recursive: true, force: true });
    if (codeOf(error) !== "ENOTEMPTY" && codeOf(error) !== "EEXIST") throw error;
  }
}

async function checkVersion(data: string, binaries: Binaries, { base, runAs }: Place): Promise<void> {
  const has = (await readFile(join(data, "PG_VERSION"), "utf8")).trim();
  const { output } = await runCommand(join(binaries.folder, "postgres"), ["--version"], { cwd: base, runAs });
  const runs = /(\d+)\./.exec(output)?.[1];
  if (has === runs) return;
  throw new LedgerUnavailableError(
    `The ledger's data in ${data} was made by PostgreSQL ${has}, and this version brings PostgreSQL ${runs ?? output}: ` +
      `carry it over with pg_dump of ${has}, or go back to the version that made it.`,
  );
}

/** The new name itself must survive a power cut, since claims that depend on it will have been acknowledged. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function removeLeftBehind(base: string): Promise<void> {
  for (const name of await readdir(base)) {
    if (!name.startsWith(HALF_MADE)) continue;
    const made = await stat(join(base, name)).catch(() => undefined);
    if (made && Date.now() - made.mtimeMs > LEFT_BEHIND_MS)
      await rm(join(base, name), { recursive: true, force: true });
  }
}

function hasVersion(data: string): Promise<boolean> {
  return stat(join(data, "PG_VERSION")).then(
    () => true,
    () => false,
  );
}
