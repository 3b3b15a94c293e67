import { type Command, Option } from "commander";
import { open, rename, rm, stat } from "node:fs/promises";
import { extname } from "node:path";

import { nairobiInstant } from "../contract/nairobi-date.ts";
import { plainJson, plainText } from "../contract/plain-text.ts";
import { type CliContext, UsageError } from "./context.ts";
import { parseText } from "./options.ts";

export function printResult(context: CliContext, json: boolean | undefined, data: unknown, text: string): void {
  context.stdout.write(`${json === true ? jsonText(data, 2) : plainText(text)}\n`);
}

export function printNote(context: CliContext, text: string): void {
  context.stderr.write(`${plainText(text)}\n`);
}

/** Resolves once the piece is out, so that a slow reader does not fill the memory. */
export function written({ stdout }: CliContext, piece: string | Uint8Array): Promise<void> {
  return new Promise((done, failed) => {
    stdout.write(piece, (error) => (error ? failed(error) : done()));
  });
}

/** JSON for a stream that may be a terminal. @param spaces of each indentation; absent: on one line */
export function jsonText(data: unknown, spaces?: number): string {
  return plainJson(JSON.stringify(data, null, spaces));
}

/**
 * Of a report's JSON: each field of Unix milliseconds (`sinceMs`) becomes one of ISO 8601 with Nairobi's offset
 * (`since`). No such data holds a length of time, whose name would end alike.
 */
export function withInstants(data: unknown): unknown {
  if (Array.isArray(data)) return data.map(withInstants);
  if (typeof data !== "object" || data === null) return data;
  return Object.fromEntries(
    Object.entries(data).map(([name, value]: [string, unknown]) => {
      if (!name.endsWith("Ms") || (typeof value !== "number" && value !== null)) return [name, withInstants(value)];
      return [name.slice(0, -"Ms".length), value === null ? null : nairobiInstant(value)];
    }),
  );
}

/** The time of day as a shop's clock showed it: `13:05:09`. */
export function nairobiClock(atMs: number): string {
  return nairobiInstant(atMs).slice(11, 19);
}

/** A decimal text without zeros that say nothing. */
export function plain(text: string): string {
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

/** `2 d 4 h` */
export function age(sinceMs: number, nowMs: number): string {
  const minutes = Math.max(0, Math.floor((nowMs - sinceMs) / 60_000));
  const [days, hours, rest] = [Math.floor(minutes / 1440), Math.floor(minutes / 60) % 24, minutes % 60];
  if (days > 0) return `${days} d ${hours} h`;
  return hours > 0 ? `${hours} h ${rest} min` : `${rest} min`;
}

/** `1 fault`, `2 faults`, `2 batches` */
export function counted(count: number, noun: string, several = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : several}`;
}

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
  if (chosen === undefined)
    throw new UsageError(`No format has the ending .${ending}. Add --format: ${formats.join(", ")}.`);
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
