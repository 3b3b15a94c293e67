import { extname } from "node:path";

import { type Command, Option } from "commander";

import { UsageError } from "./cli-error.ts";
import { parseText } from "./sale/scope.ts";

/** The flags by which a command says what it writes, and where to. */
export interface FormatFlags<Format extends string> {
  format?: Format;
  out?: string;
  force?: boolean;
}

export function withFormats(command: Command, formats: readonly string[]): Command {
  return command
    .addOption(
      new Option("--format <format>", "what to write (default: by the ending of --out, else text)").choices(formats),
    )
    .option("--out <file>", "write to this file, which appears once it is complete", parseText)
    .option("--force", "replace the file if it exists");
}

/** @throws UsageError */
export function requireOut({ out, force }: Pick<FormatFlags<string>, "out" | "force">): void {
  if (force && out === undefined) throw new UsageError("--force belongs to --out.");
}

/** @throws UsageError where the flags do not go together, or no format has the ending of the file */
export function formatOf<Format extends string>(
  { format, json, bom, ...file }: FormatFlags<Format> & { json?: boolean; bom?: boolean },
  byEnding: Readonly<Record<string, Format>>,
): Format | "text" | "json" {
  if (json && format !== undefined) throw new UsageError("Give --format or --json, not both.");
  requireOut(file);
  const chosen = json ? "json" : (format ?? formatByEnding(file.out, { ...byEnding, ".json": "json" as const }));
  if (bom && chosen !== "csv") throw new UsageError("--bom belongs to --format csv.");
  return chosen;
}

/** @throws UsageError */
export function formatByEnding<Format extends string>(
  out: string | undefined,
  byEnding: Readonly<Record<string, Format>>,
): Format | "text" {
  const ending = extname(out ?? "").toLowerCase();
  const format = ending === "" ? "text" : byEnding[ending];
  if (format) return format;
  const known = Object.keys(byEnding).join(", ");
  const json = ending === ".json" ? " For JSON, redirect the output of --json to the file." : "";
  throw new UsageError(`No format has the ending ${ending}: use one of ${known}, or add --format.${json}`);
}
