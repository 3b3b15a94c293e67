import { resolve } from "node:path";
import type { Command } from "commander";
import type { CliContext } from "../context.ts";

/** `fiscalflow demo` (contract, "Command line"). What it needs is loaded when it runs. */
export function registerDemo(program: Command, context: CliContext): void {
  program
    .command("demo")
    .description("Bring up everything on this machine, run the example sales, and show what each is doing.")
    .option("--keep", "leave everything running until Ctrl-C, and say how to start another sale")
    .option("--examples <folder>", "sales of your own, with their scenario.json (default: those of the package)")
    .option("--ui-url <url>", "Temporal's UI of the server that TEMPORAL_ADDRESS names, for the links")
    .addHelpText(
      "after",
      `
Brings its own Temporal server with its UI, unless TEMPORAL_ADDRESS names one. All other settings of the
environment are left aside: the demo reaches nothing but its own simulator.
Exit code: 0 when every sale ended as it should and the simulator's books agree, else 1.

Example: look around in Temporal's UI afterwards
  fiscalflow demo --keep`,
    )
    .action(async (options: { keep?: boolean; examples?: string; uiUrl?: string }) => {
      const { runDemo } = await import("./run-demo.ts");
      const { examplesFolder } = await import("./examples-folder.ts");
      const examples = options.examples === undefined ? examplesFolder() : resolve(options.examples);
      const uiUrl = options.uiUrl === undefined ? {} : { uiUrl: options.uiUrl };
      await runDemo({ examples, keep: options.keep === true, ...uiUrl }, context);
    });
}
