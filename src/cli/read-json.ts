import { isUtf8 } from "node:buffer";
import { createReadStream } from "node:fs";
import { buffer } from "node:stream/consumers";

import { parseJsonc } from "../config/parse-jsonc.ts";
import { type CliContext, interruptible, UsageError } from "./context.ts";
import { printNote } from "./output.ts";

/**
 * What is in a JSON file, or on standard input where the path is `-`.
 * @param name of it, in a message
 * @throws UsageError
 */
export async function readJson(
  context: CliContext,
  path: string,
  name = path === "-" ? "Standard input" : path,
): Promise<unknown> {
  return parseJson(await interruptible(() => readText(context, path), context.signal), name);
}

/** @throws UsageError with line and column */
export function parseJson(text: string, name: string): unknown {
  const json = parseJsonc(text);
  if ("value" in json) return json.value;
  throw new UsageError(`${name} is not JSON: ${json.problem}.`);
}

async function readText(context: CliContext, path: string): Promise<string> {
  const name = path === "-" ? "standard input" : `the file ${path}`;
  if (path === "-" && context.stdin.isTTY === true) printNote(context, "Reading standard input; end it with Ctrl-D.");
  const bytes = await buffer(path === "-" ? context.stdin : createReadStream(path)).catch((error: unknown) => {
    const reason = error instanceof Error && "code" in error ? String(error.code) : String(error);
    throw new UsageError(`${name} cannot be read (${reason}).`, { cause: error });
  });
  if (!isUtf8(bytes)) throw new UsageError(`${name} is not UTF-8 text.`);
  return bytes.toString();
}
