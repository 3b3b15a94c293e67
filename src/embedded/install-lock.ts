import { mkdir, open, rm, stat, utimes } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

const HEARTBEAT_MS = 2_000;
/** A holder that has not touched its lock for this long is dead. */
const STALE_AFTER_MS = 15_000;

/**
 * Runs `work` while no other process of this machine runs it, so that two starts at once do not build twice. The lock
 * saves work; correctness does not hang on it, since what is made is put in place by one rename.
 */
export async function withInstallLock<Result>(
  path: string,
  onWait: () => void,
  work: () => Promise<Result>,
  signal?: AbortSignal,
): Promise<Result> {
  await mkdir(dirname(path), { recursive: true });
  let told = false;
  while (!(await take(path))) {
    if (await isStale(path)) {
      await rm(path, { force: true });
      continue;
    }
    if (!told) onWait();
    told = true;
    await delay(250, undefined, signal ? { signal } : {});
  }
  const heartbeat = setInterval(() => {
    const now = new Date();
    utimes(path, now, now).catch(() => undefined);
  }, HEARTBEAT_MS);
  try {
    return await work();
  } finally {
    clearInterval(heartbeat);
    await rm(path, { force: true });
  }
}

async function take(path: string): Promise<boolean> {
  try {
    const file = await open(path, "wx");
    await file.close();
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  }
}

async function isStale(path: string): Promise<boolean> {
  try {
    return Date.now() - (await stat(path)).mtimeMs > STALE_AFTER_MS;
  } catch {
    return false;
  }
}
