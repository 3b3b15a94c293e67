import { readFile, stat } from "node:fs/promises";
import { LedgerUnavailableError } from "../errors.ts";
import type { RunAs } from "./run-command.ts";

/** Users that are there for a database, then the one that is there on every system. */
const CANDIDATES = ["postgres", "_postgres", "nobody"];

/**
 * The user for a server that root starts: whoever owns the data already, else the owner of the home (who then finds the
 * same data when not root), else an unprivileged user of the system. One with an entry in /etc/passwd, since `initdb`
 * asks for its name.
 */
export async function unprivilegedUser(dataFolder: string, home: string): Promise<RunAs> {
  const users = parsePasswd(await readFile("/etc/passwd", "utf8").catch(() => ""));
  for (const path of [dataFolder, home]) {
    const owner = await stat(path).catch(() => undefined);
    if (owner === undefined || owner.uid === 0) continue;
    const known = users.find((user) => user.uid === owner.uid);
    if (known) return { uid: known.uid, gid: known.gid };
  }
  for (const name of CANDIDATES) {
    const found = users.find((user) => user.name === name && user.uid > 0);
    if (found) return { uid: found.uid, gid: found.gid };
  }
  throw new LedgerUnavailableError(
    `PostgreSQL does not run as root, and /etc/passwd has none of the users ${CANDIDATES.join(", ")} to run it as: ` +
      "make a user `postgres`, run as another user, or set LEDGER_URL to the address of a PostgreSQL server.",
  );
}

function parsePasswd(text: string): { name: string; uid: number; gid: number }[] {
  return text
    .split("\n")
    .map((line) => line.split(":"))
    .flatMap(([name = "", , uid, gid]) =>
      /^\d+$/.test(uid ?? "") && /^\d+$/.test(gid ?? "") ? [{ name, uid: Number(uid), gid: Number(gid) }] : [],
    );
}
