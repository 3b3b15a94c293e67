import type { Command } from "commander";

import type { CliContext } from "./context.ts";
import type { DialectFlags } from "./dialect/run-dialect.ts";
import { help, parseText, type Scope, wholeNumber, withFilters, withScope } from "./options.ts";
import type { RecoverFlags } from "./recover.ts";
import type { ReplayFlags } from "./replay.ts";

/** What runs fiscalflow on a host: `worker`, `callbacks`, `codec`, `setup`, `recover`, `doctor` and `replay`. */
export function registerProcesses(program: Command, context: CliContext): void {
  const { env, stderr: logTo, signal } = context;
  program
    .command("worker")
    .description("Run workflows and the API calls of every configured connection, until SIGTERM or Ctrl-C.")
    .addHelpText(
      ...help(
        `The first signal waits for the open polls, up to 65 seconds, and for the calls under way, up to a call's timeout and
half a minute: give the container longer than both, such as 150 seconds. A second signal ends at once, and leaves their
outcome unknown.`,
        "HEALTH_PORT=8081 METRICS_PORT=9464 fiscalflow worker",
      ),
    )
    .action(async () => {
      const { runWorkerProcess } = await import("../worker/run-worker-process.ts");
      await runWorkerProcess({ env, logTo, signal });
    });
  program
    .command("callbacks")
    .description("Receive result callbacks and signal the workflows, until SIGTERM or Ctrl-C.")
    .addHelpText(
      ...help(
        "",
        `CALLBACK_PUBLIC_URL=https://callbacks.example.com CALLBACK_SECRETS="$(openssl rand -base64 32)" fiscalflow callbacks`,
      ),
    )
    .action(async () => {
      const { runCallbacksProcess } = await import("../worker/run-callbacks-process.ts");
      await runCallbacksProcess({ env, logTo, signal });
    });
  program
    .command("codec")
    .description("Decrypt payloads for Temporal's UI and CLI, for callers who have the token, until SIGTERM or Ctrl-C.")
    .addHelpText(
      ...help(
        `Who has the token reads everything that is encrypted. How to use it from Temporal's UI and command line:
https://github.com/fiscalflow/fiscalflow/blob/main/docs/privacy.md#reading-it-in-temporals-ui`,
        `FISCALFLOW_CODEC_TOKEN="$(openssl rand -base64 32)" FISCALFLOW_CODEC_ORIGINS=https://temporal.example.com fiscalflow codec`,
      ),
    )
    .action(async () => {
      const { runCodecProcess } = await import("../worker/run-codec-process.ts");
      await runCodecProcess({ env, logTo, signal });
    });
  program
    .command("setup")
    .description(
      "Make the ledger's tables on the server of LEDGER_URL, register search attributes in Temporal's namespace, and create or update the configured Schedules. Safe to run again at any time.",
    )
    .option("--json", "print the result as JSON")
    .addHelpText(
      ...help(
        `The ledger's tables are made as LEDGER_OWNER_URL, and belong to it; the login of LEDGER_URL gets what a worker needs of them.
A Schedule that was changed by hand is repaired, one that nothing asks for any more is removed, one that was paused stays so.`,
        "TEMPORAL_ADDRESS=temporal:7233 TEMPORAL_NAMESPACE=shop fiscalflow setup",
      ),
    )
    .action(async ({ json }: JsonFlag) => (await import("./setup/setup.ts")).runSetup(context, json));
  withFilters(
    program
      .command("recover")
      .description("After Temporal has lost its workflows: start those of the sales that the ledger knows as open.")
      .option("--dry-run", "print what would be started, and start nothing")
      .option("--ended", "also the sales whose workflow was terminated, failed or timed out before"),
  )
    .addHelpText(
      ...help(
        `Starts nothing that Temporal knows, so it may be run again at any time. What was sent stays under its claim in the ledger, and is
not sent again. Make the namespace anew with \`fiscalflow setup\` first; the workers may run, or be started later.`,
        "fiscalflow recover --dry-run",
        "fiscalflow recover",
      ),
    )
    .action(async (flags: RecoverFlags) => (await import("./recover.ts")).recover(context, flags));
  program
    .command("doctor")
    .description("Check the configuration, Temporal, the database and every key, and say how to fix each fault.")
    .option("--json", "print the findings as JSON")
    .addHelpText(
      ...help(
        `Makes one call for each connection, which counts against its request budget and changes nothing: GET /v1/businesses of
the API, GET /bill-payments of the accounting service. What a key may do beyond that, its first use shows.
Ends with 1 at a fault (✗): something keeps sales from being issued or recorded, or a configured service does not work.`,
        "fiscalflow doctor",
      ),
    )
    .action(async ({ json }: JsonFlag) => (await import("./doctor/run-doctor.ts")).runDoctor(context, json));
  program
    .command("replay")
    .description("Replay open workflows on this build, before it is promoted, and name those that it cannot carry on.")
    .option("--query <query>", "the workflows that match this Temporal filter (default: all that are open)", parseText)
    .option("--limit <number>", "maximum number of runs, the latest first", wholeNumber(1, 100_000), 500)
    .option("--json", "print those that differ as JSON")
    .addHelpText(
      ...help(
        "Reads their histories from Temporal, and changes nothing. Ends with 1 where a workflow differs.",
        "fiscalflow replay",
        `fiscalflow replay --query 'FiscalBusiness = "biz_1"' --limit 50`,
      ),
    )
    .action(async (flags: ReplayFlags) => (await import("./replay.ts")).replay(context, flags));
}

interface JsonFlag {
  json?: boolean;
}

const NOT_SHOWN = `The API's document names this operation without showing it: the connection's dialect must describe it. The answer is printed
as it came, as JSON.`;

/** `dialect`, and the reads of the API that a dialect must describe. */
export function registerDialect(program: Command, context: CliContext): void {
  program
    .command("dialect")
    .description("Compare the configured names with the services' answers, and print what to ask the provider.")
    .option("--check", "exit with 1 if an answer lacks a configured name")
    .option("--json", "print the result as JSON")
    .addHelpText(
      ...help(
        `Makes one call for each connection, which changes nothing: GET /v1/businesses of the API, GET /companies of the
accounting service. What no such answer shows is printed as a question for the provider. Every setting is described in
https://github.com/fiscalflow/fiscalflow/blob/main/docs/dialect.md.`,
        "fiscalflow dialect --check",
      ),
    )
    .action(async (flags: DialectFlags) => {
      const { runDialect } = await import("./dialect/run-dialect.ts");
      await runDialect(context, flags);
    });
  withScope(program.command("identity").description("Show what the configured key may do, as the API reports it."))
    .addHelpText(...help(NOT_SHOWN, "fiscalflow identity"))
    .action(async (flags: Scope) => {
      const { showIdentity } = await import("./dialect/named-operations.ts");
      await showIdentity(context, flags);
    });
  withScope(
    program
      .command("lookups")
      .description("Show the tax authority's code lists and item classifications.")
      .argument("[name]", "the list; replaces {id} in the dialect's path", parseText),
  )
    .addHelpText(...help(NOT_SHOWN, "fiscalflow lookups"))
    .action(async (name: string | undefined, flags: Scope) => {
      const { showLookups } = await import("./dialect/named-operations.ts");
      await showLookups(context, name, flags);
    });
}
