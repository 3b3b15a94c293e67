import type { Command } from "commander";

import type { CliContext } from "./context.ts";
import type { SetupFlags } from "./setup/run-setup.ts";

/** What runs fiscalflow on a host: `worker`, `callbacks`, `setup` and `doctor`. */
export function registerProcesses(program: Command, context: CliContext): void {
  const { env, stderr: logTo, signal } = context;
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
      const { runWorkerProcess } = await import("../worker/run-worker-process.ts");
      await runWorkerProcess({ env, logTo, signal });
    });

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
      const { runCallbacksProcess } = await import("../worker/run-callbacks-process.ts");
      await runCallbacksProcess({ env, logTo, signal });
    });

  program
    .command("setup")
    .description(
      "Make the ledger's tables on the server of LEDGER_URL, register search attributes in Temporal's namespace, and create or update the configured Schedules. Safe to run again at any time.",
    )
    .option("--nexus-endpoint <name>", "also create this Nexus endpoint for the service `fiscal` (experimental)")
    .option("--dry-run", "only print what would change")
    .option("--json", "print the result as JSON")
    .addHelpText(
      "after",
      `
The ledger's tables are made as LEDGER_OWNER_URL, and belong to it; the login of LEDGER_URL gets what a worker needs of them.

Schedules are kept for what is configured here: the synchronisation of purchases (COMPLIANCE_PURCHASES_SYNC_EVERY,
COMPLIANCE_PURCHASES_SWEEP_EVERY) and of bill payments (ACCOUNTING_BILL_PAYMENTS_SYNC_EVERY, ACCOUNTING_BILL_PAYMENTS_SWEEP_EVERY),
and the reconciliation (COMPLIANCE_RECONCILE_EVERY).
One that was changed by hand is repaired, one that nothing asks for any more is removed, one that was paused stays so.

Example:
  TEMPORAL_ADDRESS=temporal:7233 TEMPORAL_NAMESPACE=shop fiscalflow setup`,
    )
    .action(async (flags: SetupFlags) => (await import("./setup/run-setup.ts")).runSetup(context, flags));

  program
    .command("doctor")
    .description("Check the configuration, Temporal, the database and every key, and say how to fix each fault.")
    .option("--json", "print the findings as JSON")
    .addHelpText(
      "after",
      `
Makes one call for each connection, which counts against its request budget and changes nothing: GET /v1/businesses of
the API, GET /bill-payments of the accounting service. What a key may do beyond that, its first use shows.

Exit code:
  0  no fault. A warning (!) is a hint: sales are issued, or it cannot be told now, as while the API limits requests
  1  a fault (✗): something keeps sales from being issued or recorded, or a configured service does not work. Such are: a wrong setting; Temporal, the
     database or a service that is away or refuses the key; and, once there are sales, no worker

Example:
  fiscalflow doctor`,
    )
    .action(async ({ json }: { json?: boolean }) => (await import("./doctor/run-doctor.ts")).runDoctor(context, json));
}
