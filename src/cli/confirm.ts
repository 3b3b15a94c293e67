import { createInterface } from "node:readline/promises";

import { plainText } from "../contract/plain-text.ts";
import { CommandFailedError, UsageError } from "./cli-error.ts";
import type { CliContext } from "./context.ts";

/** Where nobody can be asked, `--yes` must say it. @throws UsageError */
export function requireTerminal({ stdin }: CliContext, yes: boolean | undefined, refusal: string): void {
  if (yes !== true && stdin.isTTY !== true) throw new UsageError(refusal);
}

/**
 * Asks on the terminal. @param otherwise what is true where the answer is no
 * @throws CommandFailedError where it is
 */
export async function confirm(
  { stdin, stderr, signal }: CliContext,
  question: string,
  otherwise: string,
): Promise<void> {
  const terminal = createInterface({ input: stdin, output: stderr as NodeJS.WritableStream });
  try {
    const answer = await terminal.question(`${plainText(question)} [y/N] `, { signal });
    if (!/^y(es)?$/i.test(answer.trim())) throw new CommandFailedError(otherwise);
  } finally {
    terminal.close();
  }
}
