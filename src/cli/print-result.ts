import type { CliContext } from "./context.ts";
import { printable } from "./printable.ts";

/** The result of a command: for machines one JSON document, for people a text. */
export function printResult(context: CliContext, json: boolean | undefined, data: unknown, text: string): void {
  if (json === true) context.stdout.write(`${JSON.stringify(data, null, 2)}\n`);
  else context.stdout.write(`${printable(text)}\n`);
}

/** What is going on, for whoever watches. */
export function printNote(context: CliContext, text: string): void {
  context.stderr.write(`${printable(text)}\n`);
}
