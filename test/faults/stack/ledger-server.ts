import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/**
 * Kills the server of the claims, which the workers of this run share, as the kernel does when it wants memory. They
 * bring it up again. False where none was running.
 */
export async function killLedgerServer(home: string): Promise<boolean> {
  const pid = await pidOfServer(home);
  return pid !== undefined && sent(pid, "SIGKILL");
}

/**
 * Has the server, and whatever it is at, stand still.
 * @returns what has it go on; undefined where none was running
 */
export async function freezeLedgerServer(home: string): Promise<(() => void) | undefined> {
  const pid = await pidOfServer(home);
  // First the one that makes the others.
  if (pid === undefined || !sent(pid, "SIGSTOP")) return undefined;
  const all = [pid, ...(await childrenOf(pid))];
  for (const one of all) sent(one, "SIGSTOP");
  return () => {
    for (const one of all) sent(one, "SIGCONT");
  };
}

async function pidOfServer(home: string): Promise<number | undefined> {
  try {
    const [pid] = (await readFile(join(home, "postgres/cluster/data/postmaster.pid"), "utf8")).split("\n");
    return Number(pid);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

async function childrenOf(parent: number): Promise<number[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => {
      const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
      // Behind the name, which stands in brackets: the state, and the parent.
      return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]) === parent ? [Number(pid)] : [];
    }),
  );
  return found.flat();
}

function sent(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ESRCH") return false;
    throw error;
  }
}
