import type { Command } from "commander";

import type { CliContext } from "../context.ts";

export function registerCallbacks(program: Command, context: CliContext): void {
  program
    .command("callbacks")
    .description("Receive result callbacks and signal the workflows, until SIGTERM or Ctrl-C.")
    .addHelpText(
      "after",
      `
Listens on CALLBACK_PORT of CALLBACK_HOST (the loopback address by default); CALLBACK_PUBLIC_URL must lead there.
/healthz and /readyz are on the same port; METRICS_PORT serves /metrics, on METRICS_HOST (the loopback address by
default). Refused requests are counted, and logged together, at most once a minute.
The log goes to standard error, a JSON object a line (LOG_LEVEL).

Example:
  CALLBACK_PUBLIC_URL=https://callbacks.example.com CALLBACK_SECRETS="$(openssl rand -base64 32)" fiscalflow callbacks`,
    )
    .action(async () => {
      const { runCallbacksProcess } = await import("../../worker/run-callbacks-process.ts");
      await runCallbacksProcess({ env: context.env, logTo: context.stderr, signal: context.signal });
    });
}
