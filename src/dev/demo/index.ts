import { resolve } from "node:path";
import type { Command } from "commander";
import type { CliContext } from "../../cli/context.ts";

interface DemoFlags {
  keep?: boolean;
  examples?: string;
  uiUrl?: string;
  report?: string;
  open: boolean;
}

/** `fiscalflow demo`. What it needs is loaded when it runs. */
export function registerDemo(program: Command, context: CliContext): void {
  program
    .command("demo")
    .description("Start everything on this machine, run the example sales and the back office, and show them.")
    .option("--keep", "leave everything running until Ctrl-C, and print commands to try")
    .option("--examples <folder>", "your own sales and their scenario.json (default: the package's examples)")
    .option(
      "--ui-url <url>",
      "the Temporal UI that belongs to TEMPORAL_ADDRESS, for the links (default: TEMPORAL_UI_URL)",
    )
    .option("--report <file>", "where to write the day's report (default: a file under .fiscalflow/demo)")
    .option("--no-open", "do not open the report in a browser")
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
