import { createHash } from "node:crypto";
import { chown, lstat, mkdir, readlink, symlink } from "node:fs/promises";
import { join } from "node:path";
import { LedgerUnavailableError } from "../errors.ts";
import { codeOf } from "./file-trouble.ts";
import type { Place } from "./find-place.ts";

/** 108 bytes on Linux and 104 on macOS hold the path with the socket's name and a final zero. */
const LONGEST_FOLDER_BYTES = 80;

/**
 * A path of the folder with the server's socket. A socket's path must be short: where it is not, a link in /tmp stands
 * for it, which every process makes anew when somebody has tidied it away.
 */
export async function socketFolder({ base, runAs }: Place): Promise<string> {
  const folder = join(base, "run");
  await mkdir(folder, { mode: 0o700 }).catch((error: unknown) => {
    if (codeOf(error) !== "EEXIST") throw error;
  });
  if (runAs) await chown(folder, runAs.uid, runAs.gid);
  if (Buffer.byteLength(folder) <= LONGEST_FOLDER_BYTES) return folder;

  const link = `/tmp/fiscalflow-${createHash("sha256").update(folder).digest("hex").slice(0, 16)}`;
  await symlink(folder, link).catch((error: unknown) => {
    if (codeOf(error) !== "EEXIST") throw error;
  });
  const [target, owner] = [await readlink(link).catch(() => undefined), (await lstat(link)).uid];
  // In a folder that everybody writes, what stands there may be somebody else's.
  if (target === folder && (owner === 0 || owner === process.getuid?.() || owner === runAs?.uid)) return link;
  throw new LedgerUnavailableError(
    `${link} should be our link to ${folder}, whose own path is too long for a socket, and is not: remove it, or choose a shorter home.`,
  );
}
