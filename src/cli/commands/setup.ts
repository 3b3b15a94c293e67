import { setTimeout as delay } from "node:timers/promises";
import type { Command } from "commander";

import { CommandFailedError } from "../cli-error.ts";
import type { CliContext } from "../context.ts";
import { printNote, printResult } from "../output.ts";

const CALL_MS = 10_000;
const USABLE_WITHIN_MS = 60_000;
const LOOK_EVERY_MS = 250;

interface SetupFlags {
  json?: boolean;
  dryRun?: boolean;
  nexusEndpoint?: string;
}

export function registerSetup(program: Command, context: CliContext): void {
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
    .action((flags: SetupFlags) => runSetup(context, flags));
}

async function runSetup(context: CliContext, { json, dryRun = false, nexusEndpoint: name }: SetupFlags): Promise<void> {
  const { loadConfig } = await import("../../config/index.ts");
  const { reconcileSchedules } = await import("../setup/reconcile-schedules.ts");
  const { ensureNexusEndpoint, nexusEndpointLine } = await import("../setup/nexus-endpoint.ts");
  const { scheduleLines } = await import("../setup/schedule-lines.ts");
  const { setUpLedger } = await import("../../worker/process.ts");
  const { wantedSchedules } = await import("../setup/wanted-schedules.ts");
  // Before anything is connected: its problems are reported first.
  const config = loadConfig({ env: context.env });
  const wanted = wantedSchedules(config);
  const hasTables = !dryRun && (await setUpLedger(config));
  const { withTemporal } = await import("../connect-temporal.ts");
  const { KEYWORD, readSearchAttributes, searchAttributesUsable } = await import("../../worker/require-temporal.ts");
  const { addRefusal } = await import("../add-refusal.ts");
  await withTemporal(
    context,
    async ({ connection, client, namespace }) => {
      const within = <Answer>(call: () => Promise<Answer>): Promise<Answer> =>
        connection.withDeadline(Date.now() + CALL_MS, call);
      const before = await within(() => readSearchAttributes(connection, namespace));
      const [wrong] = before.wrongType;
      if (wrong) {
        const all = before.wrongType.map(({ name, type }) => `${name} is ${type}`).join(", ");
        throw new CommandFailedError(
          `The namespace "${namespace}" has search attributes of our names with another type, expected Keyword: ${all}. A type cannot be changed: use another namespace, or remove them if nothing uses them (temporal operator search-attribute remove --namespace ${namespace} --name ${wrong.name}).`,
        );
      }
      const { missing } = before;
      if (missing.length > 0 && !dryRun) {
        const searchAttributes = Object.fromEntries(missing.map((name) => [name, KEYWORD]));
        try {
          await within(() => connection.operatorService.addSearchAttributes({ namespace, searchAttributes }));
        } catch (error) {
          // Somebody else may have run setup at the same time.
          const now = await within(() => readSearchAttributes(connection, namespace)).catch(() => before);
          if (now.missing.length > 0) throw addRefusal(error, namespace, now.missing);
        }
        printNote(context, `Added ${missing.join(", ")}; waiting until queries can use them.`);
      }
      if (!dryRun) await untilUsable(context, () => within(() => searchAttributesUsable(connection, namespace)));
      const schedules = await reconcileSchedules(client, wanted, { dryRun });
      const nexusEndpoint =
        name === undefined
          ? undefined
          : await within(() => ensureNexusEndpoint(connection, namespace, { name, dryRun }));
      const { notScheduled } = wanted;
      const text = [
        ...(hasTables ? ["The ledger's tables are ready."] : []),
        ...before.ready.map((name) => `${name}: was there`),
        ...missing.map((name) => `${name}: ${dryRun ? "would be added" : "added"}`),
        ...scheduleLines(schedules, wanted, dryRun),
        ...(nexusEndpoint ? [nexusEndpointLine(nexusEndpoint)] : []),
        dryRun ? "Nothing was changed." : `The namespace "${namespace}" is ready.`,
      ];
      const data = { namespace, dryRun, added: missing, present: before.ready, schedules, notScheduled, nexusEndpoint };
      printResult(context, json, data, text.join("\n"));
    },
    "namespace",
  );
}

async function untilUsable(context: CliContext, usable: () => Promise<boolean>): Promise<void> {
  const deadlineMs = Date.now() + USABLE_WITHIN_MS;
  while (!(await usable())) {
    if (Date.now() >= deadlineMs) {
      throw new CommandFailedError(
        `The search attributes are registered, but queries cannot use them after ${USABLE_WITHIN_MS / 1_000} s. Run \`fiscalflow setup\` again in a minute.`,
      );
    }
    await delay(LOOK_EVERY_MS, undefined, { signal: context.signal });
  }
}
