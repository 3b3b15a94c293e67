import type { Command } from "commander";

import type { CliContext } from "../context.ts";

export function registerWorker(program: Command, context: CliContext): void {
  program
    .command("worker")
    .description("Run workflows and the API calls of every configured connection, until SIGTERM or Ctrl-C.")
    .addHelpText(
      "after",
      `
The log goes to standard error, a JSON object a line (LOG_LEVEL). HEALTH_PORT serves /healthz and /readyz, METRICS_PORT
/metrics, both on loopback unless HEALTH_HOST and METRICS_HOST say otherwise. The first signal finishes the calls under
way, which takes up to a call's timeout and half a minute: give the container longer. A second signal ends at once, and
leaves their outcome unknown.

Example:
  HEALTH_PORT=8081 METRICS_PORT=9464 fiscalflow worker`,
    )
    .action(async () => {
      const { runWorkerProcess } = await import("../../worker/run-worker-process.ts");
      await runWorkerProcess({ env: context.env, logTo: context.stderr, signal: context.signal });
    });
}
