import type { Command } from "commander";
import { resolve } from "node:path";
import { Readable } from "node:stream";

import { CommandFailedError, describeError, InterruptedError } from "../cli-error.ts";
import type { CliContext } from "../context.ts";
import { openPage, pageOpener } from "../open-page.ts";

interface DemoFlags {
  keep?: boolean;
  examples?: string;
  open: boolean;
}

/** Ctrl-C or SIGTERM ended the demo, and everything that it started. */
class DemoInterruptedError extends InterruptedError {
  override readonly message = "Interrupted: everything that the demo started is ended.";
}

/** @param programOf the whole command line, of which the demo runs commands */
export function registerDemo(program: Command, context: CliContext, programOf: (of: CliContext) => Command): void {
  const { env, stdout, stderr, signal } = context;
  program
    .command("demo")
    .description("Start everything on this machine, run the example sales and the back office, and show them.")
    .option("--keep", "leave everything running until Ctrl-C, and print commands to try")
    .option("--examples <folder>", "your own sales and their scenario.json (default: the package's examples)")
    .option("--no-open", "do not open the report in a browser")
    .addHelpText(
      "after",
      `
Brings its own Temporal server with its UI, unless TEMPORAL_ADDRESS names one (and TEMPORAL_UI_URL its UI). All other
settings of the environment are left aside: the demo reaches nothing but its own simulator. The day's report is shown
in a browser where somebody sits at a terminal with a display.
Exit code: 0 when everything ended as it should and the simulator's books agree, else 1.

Example: look around in Temporal's UI afterwards
  fiscalflow demo --keep`,
    )
    .action(async ({ keep = false, examples, open }: DemoFlags) => {
      const { runDemo } = await import("../../dev/demo/run-demo.ts");
      const options = { keep, examples: examples && resolve(examples) };
      const showPage = async (file: string): Promise<boolean> => {
        const opener = open && pageOpener({ platform: process.platform, env, isTerminal: stdout.isTTY === true });
        return opener ? await openPage(opener, resolve(file)) : false;
      };
      const command = async (args: readonly string[], env: NodeJS.ProcessEnv) => {
        const [out, errors] = [new Collector(), new Collector()];
        try {
          const of = { env, stdin: Readable.from([]), stdout: out, stderr: errors, signal };
          await programOf(of).parseAsync([...args], { from: "user" });
          return { succeeded: true, stdout: out.text, stderr: errors.text };
        } catch (error) {
          signal.throwIfAborted();
          const { message } = describeError(error, { withStack: false });
          return { succeeded: false, stdout: out.text, stderr: `${errors.text}${message}` };
        }
      };
      const ended = runDemo(options, { env, stdout, stderr, signal, command, showPage }).catch((error: unknown) => {
        throw signal.aborted ? new DemoInterruptedError() : error;
      });
      if (!(await ended)) throw new CommandFailedError("");
    });
}

class Collector {
  text = "";

  write(piece: unknown, written?: unknown): boolean {
    this.text += String(piece);
    if (typeof written === "function") written();
    return true;
  }
}
