import { homedir } from "node:os";
import { join } from "node:path";
import { TEMPORAL_CLI_VERSION, TEST_SERVER_VERSION } from "./versions.ts";

const EXECUTABLE_SUFFIX = process.platform === "win32" ? ".exe" : "";

/** Where executables that were downloaded or built are kept, for all checkouts of one user. */
function cacheFolder(env: NodeJS.ProcessEnv): string {
  const own = env["FISCALFLOW_CACHE"];
  if (own) return own;
  const xdg = env["XDG_CACHE_HOME"];
  if (xdg) return join(xdg, "fiscalflow");
  const home = env["HOME"] || homedir();
  return process.platform === "darwin"
    ? join(home, "Library", "Caches", "fiscalflow")
    : join(home, ".cache", "fiscalflow");
}

/** A thing in the cache: a folder named with its version, so that another version never takes its place. */
export interface CacheEntry {
  readonly root: string;
  readonly name: string;
  /** The executable inside the folder. */
  readonly executable: string;
}

/** @param name with its version */
export function cacheEntry(env: NodeJS.ProcessEnv, name: string, executable: string): CacheEntry {
  return { root: cacheFolder(env), name, executable: `${executable}${EXECUTABLE_SUFFIX}` };
}

export function temporalCliEntry(env: NodeJS.ProcessEnv): CacheEntry {
  return cacheEntry(env, `temporal-cli-${TEMPORAL_CLI_VERSION}`, "temporal");
}

export function testServerEntry(env: NodeJS.ProcessEnv): CacheEntry {
  return cacheEntry(env, `temporal-test-server-${TEST_SERVER_VERSION}`, "temporal-test-server");
}

export function executablePath(entry: CacheEntry): string {
  return join(entry.root, entry.name, entry.executable);
}
