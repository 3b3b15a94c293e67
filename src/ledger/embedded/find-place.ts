import { createHash } from "node:crypto";
import { access, chmod, chown, mkdir, realpath, rmdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { LedgerUnavailableError } from "../errors.ts";
import { fileTrouble } from "./file-trouble.ts";
import { type RunAs, runCommand } from "./run-command.ts";
import { unprivilegedUser } from "./unprivileged-user.ts";

/** Where the server of one home lives. The same for every process of the host. */
export interface Place {
  /** Real path of a folder of the server's user, mode 0700. */
  readonly base: string;
  /** Undefined when the server runs as we do. */
  readonly runAs: RunAs | undefined;
}

const PLACE_FOR_ROOT = "/var/lib/fiscalflow";

/** Whether a process has made the home's data already. Makes nothing itself. */
export async function hasData(home: string): Promise<boolean> {
  const inHome = join(resolve(home), "postgres");
  const apart = await realpath(home).then(
    (real) => [join(PLACE_FOR_ROOT, hashOf(real))],
    () => [],
  );
  const found = await Promise.all([inHome, ...apart].map((base) => exists(join(base, "cluster"))));
  return found.includes(true);
}

/** @throws LedgerUnavailableError when the home cannot be used */
export async function findPlace(home: string): Promise<Place> {
  const inHome = join(resolve(home), "postgres");
  try {
    await mkdir(resolve(home), { recursive: true });
    if (process.getuid?.() !== 0) {
      await mkdir(inHome, { recursive: true, mode: 0o700 });
      return { base: await realpath(inHome), runAs: undefined };
    }
    const apart = join(PLACE_FOR_ROOT, hashOf(await realpath(home)));
    // What was chosen once stays chosen, whatever has become of the home's modes.
    const first = (await exists(join(apart, "cluster"))) ? [apart] : [inHome, apart];
    for (const folder of first) {
      const runAs = await unprivilegedUser(join(folder, "cluster", "data"), home);
      const base = await giveTo(folder, runAs);
      if (base !== undefined) return { base, runAs };
    }
  } catch (error) {
    if (error instanceof LedgerUnavailableError) throw error;
    throw fileTrouble(inHome, error);
  }
  throw new LedgerUnavailableError(
    `Neither ${inHome} nor ${PLACE_FOR_ROOT} can be reached by an unprivileged user, and PostgreSQL does not run as root: ` +
      "run as another user, or set LEDGER_URL to the address of a PostgreSQL server.",
  );
}

/** The real path, or undefined when a private folder above keeps the user from it. */
async function giveTo(folder: string, runAs: RunAs): Promise<string | undefined> {
  await mkdir(folder, { recursive: true });
  await chown(folder, runAs.uid, runAs.gid);
  await chmod(folder, 0o700);
  const base = await realpath(folder);
  const probe = await runCommand("/bin/sh", ["-c", 'cd "$1" && test -w .', "sh", base], { cwd: "/", runAs });
  if (probe.succeeded) return base;
  await rmdir(folder).catch(() => undefined);
  return undefined;
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
