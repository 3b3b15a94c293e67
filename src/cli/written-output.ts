import { open, rename, rm, stat } from "node:fs/promises";
import { extname } from "node:path";

import { type Command, Option } from "commander";

import { UsageError } from "./cli-error.ts";
import type { CliContext } from "./context.ts";
import { printNote, written } from "./output.ts";
import { parseText } from "./sale/scope.ts";

/** The flags by which a command says what it writes, and where to. */
export interface FormatFlags<Format extends string> {
  format?: Format;
  json?: boolean;
  out?: string;
}

export function withFormats(command: Command, formats: readonly string[]): Command {
  return command
    .addOption(
      new Option("--format <format>", "what to write (default: by the ending of --out, else text)")
        .choices(formats)
        .conflicts("json"),
    )
    .option(
      "--out <file>",
      "write to this file, which appears once it is complete, in place of one of that name",
      parseText,
    );
}

/** @throws UsageError where no format has the ending of the file */
export function formatOf<Format extends string>(
  { format, json, out }: FormatFlags<Format>,
  formats: readonly Format[],
): Format | "text" | "json" {
  if (json) return "json";
  const ending = extname(out ?? "")
    .slice(1)
    .toLowerCase();
  const chosen = format ?? (["", "txt"].includes(ending) ? "text" : formats.find((one) => one === ending));
  if (chosen === undefined) throw new UsageError(`No format has the ending .${ending}: add --format.`);
  return chosen;
}

/**
 * Writes a result, piece by piece as it is made, to standard output or to a file, which has its name only once it is
 * whole.
 * @throws UsageError where the file cannot be written
 */
export async function writeOutput(
  context: CliContext,
  out: string | undefined,
  pieces: AsyncIterable<string | Uint8Array> | Iterable<string>,
): Promise<void> {
  const writeAll = async (write: (piece: string | Uint8Array) => Promise<void>): Promise<void> => {
    for await (const piece of pieces) {
      // A result that nobody waits for may hold the ledger's connection.
      context.signal.throwIfAborted();
      await write(piece);
    }
  };
  if (out === undefined) return await writeAll((piece) => written(context, piece));
  const unwritable = (cause: NodeJS.ErrnoException): never => {
    throw new UsageError(`The file ${out} cannot be written (${cause.code}). Give another one with --out.`, { cause });
  };
  // A printer, or /dev/null, would become a file.
  const there = await stat(out).catch(() => undefined);
  if (there && !there.isFile())
    throw new UsageError(`${out} is there already, and no file. Give another name with --out, or redirect the output.`);
  const partial = `${out}.${process.pid}.part`;
  const file = await open(partial, "w").catch(unwritable);
  try {
    await writeAll((piece) => file.appendFile(piece));
    await file.close();
    await rename(partial, out).catch(unwritable);
  } finally {
    await file.close();
    await rm(partial, { force: true });
  }
  printNote(context, `Written to ${out}.`);
}
