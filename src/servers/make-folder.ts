import { randomBytes } from "node:crypto";
import { mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { codeOf } from "./run-command.ts";

/** Nothing takes as long to make: a build has half an hour. */
const LEFT_BEHIND_MS = 60 * 60_000;

/**
 * Makes a folder under a name of its own, and gives it its place by one rename. So a half-made one is never taken for
 * whole, and of several processes at once the first to finish wins, without a lock.
 */
export async function makeFolder(place: string, make: (folder: string) => Promise<void>): Promise<void> {
  await mkdir(dirname(place), { recursive: true });
  await removeLeftBehind(dirname(place));
  const half = `${place}.making-${randomBytes(6).toString("hex")}`;
  try {
    await mkdir(half, { mode: 0o700 });
    await make(half);
    await rename(half, place).catch((error: unknown) => {
      if (codeOf(error) !== "ENOTEMPTY" && codeOf(error) !== "EEXIST") throw error;
    });
    // The name too must survive a power cut: claims that depend on a database will have been acknowledged.
    const parent = await open(dirname(place), "r");
    await parent.sync();
    await parent.close();
  } finally {
    await rm(half, { recursive: true, force: true });
  }
}

/** What killed processes were making. Best effort: another user's, or what another process removes too, stays. */
async function removeLeftBehind(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    if (!/\.making-[0-9a-f]{12}$/.test(name)) continue;
    const half = join(parent, name);
    const isLeftBehind = await stat(half).then(
      ({ mtimeMs }) => Date.now() - mtimeMs > LEFT_BEHIND_MS,
      () => false,
    );
    if (isLeftBehind) await rm(half, { recursive: true, force: true }).catch(() => undefined);
  }
}
