import { setTimeout as delay } from "node:timers/promises";
import type { Command } from "commander";

import { CommandFailedError } from "../cli-error.ts";
import type { CliContext } from "../context.ts";
import { printNote, printResult } from "../print-result.ts";

const CALL_MS = 10_000;
const USABLE_WITHIN_MS = 60_000;
const LOOK_EVERY_MS = 250;

export function registerSetup(program: Command, context: CliContext): void {
  program
    .command("setup")
    .description("Register the search attributes in Temporal's namespace. May be run again at any time.")
    .option("--json", "the result as JSON")
    .addHelpText(
      "after",
      `
Example:
  TEMPORAL_ADDRESS=temporal:7233 TEMPORAL_NAMESPACE=shop fiscalflow setup`,
    )
    .action((flags: { json?: boolean }) => runSetup(context, flags.json));
}

async function runSetup(context: CliContext, json: boolean | undefined): Promise<void> {
  const { withTemporal } = await import("../connect-temporal.ts");
  const { KEYWORD, readSearchAttributes, searchAttributesUsable } = await import("../../worker/search-attributes.ts");
  const { addRefusal } = await import("../add-refusal.ts");
  await withTemporal(context, async ({ connection, namespace }) => {
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
    if (missing.length > 0) {
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
    await untilUsable(context, () => within(() => searchAttributesUsable(connection, namespace)));
    const text = [
      ...before.ready.map((name) => `${name}: was there`),
      ...missing.map((name) => `${name}: added`),
      `The namespace "${namespace}" is ready.`,
    ];
    printResult(context, json, { namespace, added: missing, present: before.ready }, text.join("\n"));
  });
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
