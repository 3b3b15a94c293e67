import { randomBytes } from "node:crypto";
import { lstat, open, rename, rm } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";

import { UsageError } from "./cli-error.ts";
import type { CliContext } from "./context.ts";
import { printNote, written } from "./output.ts";

/** A file that is being written under another name. */
export interface WholeFile {
  append(piece: string | Uint8Array): Promise<void>;
  /** @throws UsageError where the file exists already, unless `force` replaces it, or where it cannot be written */
  keepAs(file: string, options: { force: boolean }): Promise<void>;
}

/**
 * Writes a file that appears under its name only once it is whole. What is not kept is removed.
 * @param wanted its name, or the beginning of it: the partial file lies beside it
 * @throws UsageError where it cannot be written
 */
export async function withWholeFile<Result>(
  wanted: string,
  work: (whole: WholeFile) => Promise<Result>,
): Promise<Result> {
  const partial = join(dirname(wanted), `.${basename(wanted)}.${randomBytes(4).toString("hex")}.part`);
  try {
    const handle = await open(partial, "wx").catch(unwritable(wanted));
    try {
      return await work({
        append: (piece) => handle.appendFile(piece),
        async keepAs(file, { force }) {
          await handle.close();
          if (!force) await refuseExisting(file);
          await rename(partial, file).catch(unwritable(file));
        },
      });
    } finally {
      await handle.close();
    }
  } finally {
    await rm(partial, { force: true });
  }
}

/**
 * Writes a result, piece by piece as it is rendered, to standard output or to a file.
 * @throws UsageError where it cannot be written
 */
export async function writeResult(
  context: CliContext,
  { out, force = false }: { out?: string; force?: boolean },
  pieces: AsyncIterable<string> | Iterable<string>,
): Promise<void> {
  const write = async (append: (piece: string) => Promise<void>): Promise<void> => {
    for await (const piece of pieces) {
      // A result that nobody waits for may hold the ledger's connection.
      context.signal.throwIfAborted();
      await append(piece);
    }
  };
  if (out === undefined) return await write((piece) => written(context, piece));
  const file = resolve(out);
  await withWholeFile(file, async (whole) => {
    await write((piece) => whole.append(piece));
    await whole.keepAs(file, { force });
  });
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
