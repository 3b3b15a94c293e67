import { randomBytes } from "node:crypto";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { codeOf } from "./run-command.ts";

/**
 * Makes a folder under a name of its own, and gives it its place by one rename. So a half-made one is never taken for
 * whole, and of several processes at once the first to finish wins, without a lock.
 */
export async function makeFolder(place: string, make: (folder: string) => Promise<void>): Promise<void> {
  await mkdir(dirname(place), { recursive: true });
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
