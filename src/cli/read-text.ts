import { createReadStream } from "node:fs";
import type { Readable } from "node:stream";

import { UsageError } from "./cli-error.ts";
import type { CliContext } from "./context.ts";
import { interruptible } from "./interruptible.ts";
import { printNote } from "./output.ts";

/** More than any list of sales; a device file has no end. */
const MAX_BYTES = 64 * 1024 * 1024;

/** The text of a file, or of standard input where the path is `-`. @throws UsageError */
export async function readText(context: CliContext, path: string): Promise<string> {
  const name = path === "-" ? "standard input" : `the file ${path}`;
  if (path === "-" && context.stdin.isTTY === true) printNote(context, "Reading standard input; end it with Ctrl-D.");
  const open = (): Readable => (path === "-" ? context.stdin : createReadStream(path));
  const bytes = await interruptible(() => readAll(open, name), context.signal);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new UsageError(`${name} is not UTF-8 text.`);
  }
}

async function readAll(open: () => Readable, name: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let byteCount = 0;
  try {
    for await (const chunk of open() as AsyncIterable<Buffer | string>) {
      const bytes = Buffer.from(chunk);
      byteCount += bytes.length;
      if (byteCount > MAX_BYTES) throw new UsageError(`${name} is longer than ${MAX_BYTES / 1024 / 1024} MiB.`);
      chunks.push(bytes);
    }
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const reason = error instanceof Error && "code" in error ? String(error.code) : String(error);
    throw new UsageError(`${name} cannot be read (${reason}).`, { cause: error });
  }
  return Buffer.concat(chunks);
}
