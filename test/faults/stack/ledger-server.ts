import { readFile } from "node:fs/promises";
import { join } from "node:path";

/**
 * Kills the server of the claims, which the workers of this run share, as the kernel does when it wants memory. They
 * bring it up again. False where none was running.
 */
export async function killLedgerServer(home: string): Promise<boolean> {
  try {
    const [pid] = (await readFile(join(home, "postgres/cluster/data/postmaster.pid"), "utf8")).split("\n");
    process.kill(Number(pid), "SIGKILL");
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ESRCH")) return false;
    throw error;
  }
}
