import { CommanderError } from "commander";

import { InterruptedError } from "./cli-error.ts";
import type { CliContext } from "./context.ts";
import { describeError } from "./describe-error.ts";
import { createProgram } from "./program.ts";
import { interruptedExitCode } from "./stop-on-signals.ts";

/** As {@link CliContext}; without a signal nobody interrupts. */
export type CliSurroundings = Omit<CliContext, "signal"> & { readonly signal?: AbortSignal };

/**
 * The `fiscalflow` command: 0 done, 1 the work failed, 2 the call or the configuration was wrong, 130 or 143 a signal
 * interrupted it. Never throws, and never ends the process.
 * @param argv the arguments alone, without the executable and the script
 */
export async function runCli(argv: readonly string[], surroundings: CliSurroundings): Promise<number> {
  const context: CliContext = { ...surroundings, signal: surroundings.signal ?? new AbortController().signal };
  try {
    await createProgram(context).parseAsync([...argv], { from: "user" });
    return 0;
  } catch (error) {
    // Commander has printed what was wrong. Help that was not asked for is a wrong call too.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    const interrupted = isInterruption(error, context.signal);
    const reported = interrupted && !(error instanceof InterruptedError) ? new InterruptedError() : error;
    const { exitCode, message } = describeError(reported, { withStack: showsStacks(context.env) });
    if (message !== "") context.stderr.write(`${message}\n`);
    return interrupted ? interruptedExitCode(context.signal) : exitCode;
  }
}

/** Node's own waits end with an AbortError of theirs. */
function isInterruption(error: unknown, signal: AbortSignal): boolean {
  if (error instanceof InterruptedError) return true;
  return signal.aborted && (error === signal.reason || (error instanceof Error && error.name === "AbortError"));
}

function showsStacks(env: NodeJS.ProcessEnv): boolean {
  return env["LOG_LEVEL"] === "debug" || env["LOG_LEVEL"] === "trace";
}
