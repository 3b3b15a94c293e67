import { CommanderError } from "commander";

import { describeError, InterruptedError } from "./cli-error.ts";
import type { CliContext } from "./context.ts";
import { createProgram } from "./program.ts";

/**
 * The `fiscalflow` command: 0 done, 1 the work failed, 2 the call or the configuration was wrong, 130 or 143 a signal
 * interrupted it. Never throws, and never ends the process.
 * @param argv the arguments alone, without the executable and the script
 */
export async function runCli(argv: readonly string[], context: CliContext): Promise<number> {
  try {
    await createProgram(context).parseAsync([...argv], { from: "user" });
    return 0;
  } catch (error) {
    // Commander has printed what was wrong. Help that was not asked for is a wrong call too.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    const { aborted, reason } = context.signal;
    const interruption = reason instanceof InterruptedError ? reason : new InterruptedError();
    // Node's own waits end with an AbortError of theirs.
    const isOfNode = aborted && error instanceof Error && error.name === "AbortError";
    const reported = isOfNode || error === reason ? interruption : error;
    const { exitCode, message } = describeError(reported, { withStack: showsStacks(context.env) });
    if (message !== "") context.stderr.write(`${message}\n`);
    return reported instanceof InterruptedError ? interruption.exitCode : exitCode;
  }
}

function showsStacks(env: NodeJS.ProcessEnv): boolean {
  return env["LOG_LEVEL"] === "debug" || env["LOG_LEVEL"] === "trace";
}
