import { mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { type CacheEntry, executablePath } from "./cache-folder.ts";
import type { WayResult } from "./first-way.ts";
import { withInstallLock } from "./install-lock.ts";

export interface Installation {
  readonly entry: CacheEntry;
  readonly onProgress: (line: string) => void;
  /** Is the executable good? Asked before (another process may have made it) and after. */
  readonly check: (path: string) => Promise<WayResult>;
  /** Puts the entry's executable, and whatever it needs, into the folder. Returns what went wrong. */
  readonly make: (folder: string) => Promise<string | undefined>;
  /** Ends the wait for another process that makes it. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Makes an entry of the cache in a temporary folder and puts it in place by one rename: a killed build leaves nothing
 * half-made.
 */
export async function installInCache(installation: Installation): Promise<WayResult> {
  const { entry, onProgress } = installation;
  try {
    return await withInstallLock(
      join(entry.root, `${entry.name}.lock`),
      () => onProgress(`another process is already making ${entry.name}: waiting for it`),
      () => makeOrTake(installation),
      installation.signal,
    );
  } catch (error) {
    return {
      reason: `the cache ${entry.root} cannot be used: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
}

async function makeOrTake({ entry, check, make }: Installation): Promise<WayResult> {
  const madeMeanwhile = await check(executablePath(entry));
  if ("path" in madeMeanwhile) return madeMeanwhile;
  await removeLeftovers(entry);
  const folder = await mkdtemp(join(entry.root, `${entry.name}.making-`));
  try {
    const problem = await make(folder);
    if (problem !== undefined) return { reason: problem };
    const made = await check(join(folder, entry.executable));
    if ("reason" in made) return made;
    const place = join(entry.root, entry.name);
    // What stands there did not pass its check; a running process keeps its open file.
    await rm(place, { recursive: true, force: true });
    await rename(folder, place);
    return { path: executablePath(entry) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Left behind by a process that was killed; ours is the lock, so nobody is at work in them. */
async function removeLeftovers(entry: CacheEntry): Promise<void> {
  await mkdir(entry.root, { recursive: true });
  for (const name of await readdir(entry.root)) {
    if (name.startsWith(`${entry.name}.making-`)) await rm(join(entry.root, name), { recursive: true, force: true });
  }
}
