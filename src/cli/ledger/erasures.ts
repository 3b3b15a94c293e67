import { type FileHandle, open } from "node:fs/promises";
import { z } from "zod";

import type { Erasure } from "../../ledger/index.ts";
import { type CliContext, UsageError } from "../context.ts";
import { printNote } from "../output.ts";

const erasure = z.object({
  connection: z.string().min(1),
  businessId: z.string().min(1),
  type: z.enum(["sale", "credit_note"]),
  number: z.string().min(1),
  erased: z.enum(["contact", "customer"]),
});

/**
 * Writes down in a file, a line of JSON each, which documents are about to lose what is said of their customers; on the
 * disk before it returns. It names no customer.
 */
export async function keepErasures(path: string, erasures: readonly Erasure[]): Promise<void> {
  const file = await open(path, "a+", 0o600);
  try {
    const at = new Date().toISOString();
    const lines = erasures.map((one) => `${JSON.stringify({ at, ...one })}\n`).join("");
    // What an earlier call could not write to its end stays a line of its own.
    await file.appendFile((await endsInLine(file)) ? lines : `\n${lines}`);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function endsInLine(file: FileHandle): Promise<boolean> {
  const { size } = await file.stat();
  if (size === 0) return true;
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer.toString() === "\n";
}

/**
 * What {@link keepErasures} has written, line by line. A line that was not written to its end is left out: nothing is
 * erased before its line is whole.
 * @throws UsageError where it is no such file
 */
export async function* readErasures(context: CliContext, path: string): AsyncGenerator<Erasure> {
  const file = await open(path, "r").catch((error: unknown) => {
    throw new UsageError(
      `--erasures: ${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    );
  });
  const broken: number[] = [];
  let number = 0;
  let isOne = false;
  try {
    for await (const line of file.readLines({ autoClose: false })) {
      number += 1;
      if (line.trim() === "") continue;
      const read = erasure.safeParse(parsed(line));
      isOne ||= read.success;
      if (read.success) yield read.data;
      else broken.push(number);
    }
  } finally {
    // The reader may stop at the first line.
    await file.close();
  }
  if (broken.length === 0) return;
  if (!isOne) throw new UsageError(`--erasures: ${path} is not what \`fiscalflow ledger erase\` has written.`);
  printNote(context, `Not written to their end, and left out, of ${path}: lines ${broken.join(", ")}.`);
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
