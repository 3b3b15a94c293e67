import { randomBytes } from "node:crypto";
import { lstat, open, rename, rm } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";

import { UsageError } from "./cli-error.ts";
import type { CliContext } from "./context.ts";
import { printNote, written } from "./output.ts";

type Append = (piece: string | Uint8Array) => Promise<void>;

/**
 * Writes a file that appears under its name only once it is whole; until then it lies beside it.
 * @param write returns what the file's name is to end with
 * @returns the name
 * @throws UsageError where the file exists already, unless `force` replaces it, or where it cannot be written
 */
export async function writeWhole(
  wanted: string,
  force: boolean,
  write: (append: Append) => Promise<string>,
): Promise<string> {
  const partial = join(dirname(wanted), `.${basename(wanted)}.${randomBytes(4).toString("hex")}.part`);
  const handle = await open(partial, "wx").catch(unwritable(wanted));
  try {
    const file = `${wanted}${await write((piece) => handle.appendFile(piece))}`;
    await handle.close();
    if (!force) await refuseExisting(file);
    await rename(partial, file).catch(unwritable(file));
    return file;
  } finally {
    await handle.close();
    await rm(partial, { force: true });
  }
}

/**
 * Writes a result, piece by piece as it is rendered, to standard output or to a file. A file is refused before the first
 * piece is made.
 * @throws UsageError where it cannot be written
 */
export async function writeResult(
  context: CliContext,
  { out, force = false }: { out?: string; force?: boolean },
  pieces: AsyncIterable<string | Uint8Array> | Iterable<string>,
): Promise<void> {
  const write = async (append: Append): Promise<string> => {
    for await (const piece of pieces) {
      // A result that nobody waits for may hold the ledger's connection.
      context.signal.throwIfAborted();
      await append(piece);
    }
    return "";
  };
  if (out === undefined) {
    await write((piece) => written(context, piece));
    return;
  }
  if (!force) await refuseExisting(out);
  await writeWhole(resolve(out), force, write);
  printNote(context, `Written to ${out}.`);
}

/** @throws UsageError */
export async function refuseExisting(file: string): Promise<void> {
  const exists = await lstat(file).then(
    () => true,
    () => false,
  );
  if (exists) throw new UsageError(`The file ${file} exists already. Give another one with --out, or add --force.`);
}

function unwritable(file: string): (error: unknown) => never {
  return (error) => {
    const reason = error instanceof Error && "code" in error ? String(error.code) : String(error);
    throw new UsageError(`The file ${file} cannot be written (${reason}). Give another one with --out.`, {
      cause: error,
    });
  };
}
