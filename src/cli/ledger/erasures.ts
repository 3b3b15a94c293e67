import { open } from "node:fs/promises";
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
  const file = await open(path, "a", 0o600);
  try {
    const at = new Date().toISOString();
    await file.appendFile(erasures.map((one) => `${JSON.stringify({ at, ...one })}\n`).join(""));
    await file.sync();
  } finally {
    await file.close();
  }
}

/** What {@link keepErasures} has written, line by line. @throws UsageError */
export async function* readErasures(context: CliContext, path: string): AsyncGenerator<Erasure> {
  const file = await open(path, "r").catch((error: unknown) => {
    throw new UsageError(
      `--erasures: ${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    );
  });
  let number = 0;
  // A line is followed by others as long as it is not the last one.
  let broken: number | undefined;
  for await (const line of file.readLines()) {
    number += 1;
    if (line.trim() === "") continue;
    if (broken !== undefined)
      throw new UsageError(`--erasures: line ${broken} of ${path} is not what \`fiscalflow ledger erase\` writes.`);
    const read = erasure.safeParse(parsed(line));
    if (read.success) yield read.data;
    else broken = number;
  }
  // Nothing is erased before its line is whole.
  if (broken !== undefined)
    printNote(context, `Line ${broken} of ${path}, the last one, was not written to its end: left out.`);
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
