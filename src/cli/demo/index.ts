import { resolve } from "node:path";
import type { Command } from "commander";
import type { CliContext } from "../context.ts";

interface DemoFlags {
  keep?: boolean;
  examples?: string;
  uiUrl?: string;
  report?: string;
  open: boolean;
}

/** `fiscalflow demo` (contract, "Command line"). What it needs is loaded when it runs. */
export function registerDemo(program: Command, context: CliContext): void {
  program
    .command("demo")
    .description("Bring up everything on this machine, run the example sales and what follows them, and show it.")
    .option("--keep", "leave everything running until Ctrl-C, and say how to go on")
    .option("--examples <folder>", "sales of your own, with their scenario.json (default: those of the package)")
    .option("--ui-url <url>", "Temporal's UI of the server that TEMPORAL_ADDRESS names, for the links")
    .option("--report <file>", "where the page of the day's report goes (default: a file under .fiscalflow/demo)")
    .option("--no-open", "do not show the page in a browser")
    .addHelpText(
      "after",
      `
Brings its own Temporal server with its UI, unless TEMPORAL_ADDRESS names one. All other settings of the
environment are left aside: the demo reaches nothing but its own simulator. The page is shown in a browser where
somebody sits at a terminal with a display.
Exit code: 0 when everything ended as it should and the simulator's books agree, else 1.

Example: look around in Temporal's UI afterwards
  fiscalflow demo --keep`,
    )
    .action(async (options: DemoFlags) => {
      const { runDemo } = await import("./run-demo.ts");
      const { examplesFolder } = await import("./examples-folder.ts");
      const examples = options.examples === undefined ? examplesFolder() : resolve(options.examples);
      const { keep = false, uiUrl, report, open } = options;
      const places = {
        ...(uiUrl !== undefined && { uiUrl }),
        ...(report !== undefined && { report: resolve(report) }),
      };
      await runDemo({ examples, keep, open, ...places }, context);
    });
}
