import { readFileSync } from "node:fs";
import { join } from "node:path";
import { vi } from "vitest";
import { isAlive } from "../../servers/test-support/process-state.ts";

/** The process of the server that keeps its data under `base`. */
export function serverPid(base: string): number {
  return Number(readFileSync(join(base, "cluster", "data", "postmaster.pid"), "utf8").split("\n")[0]);
}

/** Resolves when the process has ended. */
export async function gone(pid: number, timeoutMs = 10_000): Promise<void> {
  await vi.waitUntil(() => !isAlive(pid), { timeout: timeoutMs, interval: 20 });
}
