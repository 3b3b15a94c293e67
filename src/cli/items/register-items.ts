import type { Command } from "commander";

import { registerItemsWorkflowId } from "../../contract/index.ts";
import { itemName } from "../../contract/schema/job-inputs.ts";
import { parsedBy, waitSeconds } from "../arguments.ts";
import type { CliContext } from "../context.ts";
import type { JobFlags } from "../jobs/job-command.ts";
import { registerJobUpdates } from "../operate/operating-commands.ts";
import { parseText, type ResultFlags, type Scope, withScope } from "../sale/scope.ts";

interface RegisterFlags extends JobFlags {
  branch?: string;
  force?: boolean;
}

const parseItem = parsedBy(itemName);

export function registerItems(program: Command, context: CliContext): void {
  const items = program
    .command("items")
    .description("Register a business's items with the tax authority, and see what each still lacks.");
  withScope(
    items
      .command("register")
      .description("Register these items, or the whole catalogue. Safe to run again at any time.")
      .argument(
        "[items...]",
        "ids, external ids or SKUs (default: the whole catalogue)",
        (value, before: string[] | undefined): string[] | undefined => [...(before ?? []), parseItem(value)],
      )
      .option("--branch <branch>", "a branch's id or authorityBhfId (default: the business's first)", parseText)
      .option("--force", "register again items that the tax authority already has")
      .option("--wait [seconds]", "follow its progress until it ends", waitSeconds),
  )
    .addHelpText(
      "after",
      `
An item that lacks data is reported and holds up nothing. One registration of a business runs at a time; where one runs already, this
shows that one.

Examples:
  fiscalflow items register --wait
  fiscalflow items register TEA-500 FLOUR-2 --branch 01`,
    )
    .action(async (named: string[], flags: RegisterFlags) => {
      const { branch, force } = flags;
      const { runJob } = await import("../jobs/run-job.ts");
      const { itemsRegistration } = await import("./items-registration.ts");
      const options = {
        ...(named.length > 0 && { items: named }),
        ...(branch !== undefined && { branch }),
        ...(force === true && { force }),
      };
      await runJob(context, itemsRegistration, { flags, options });
    });
  withScope(
    items.command("report").description("List the items that are not registered, with the last answer for each."),
  ).action(async (flags: Scope & ResultFlags) => {
    const { reportItems } = await import("./report-items.ts");
    await reportItems(context, flags);
  });
  withScope(
    items
      .command("create")
      .description("Create an item at the API and print its answer. Never retried automatically.")
      .argument("<file>", "a JSON object with the item's fields; - reads standard input"),
  )
    .addHelpText(
      "after",
      `
The API's document names this operation without showing it: the connection's dialect must describe it under createItem. The fields are
sent under the names that the dialect gives them, and those that it does not name as they are.

Example:
  echo '{"name":"Maize flour 2 kg","sku":"MF-2","unitPrice":210}' | fiscalflow items create -`,
    )
    .action(async (file: string, flags: Scope) => {
      const { createItem } = await import("./create-item.ts");
      await createItem(context, file, flags);
    });
  registerJobUpdates(items, context, {
    noun: "registration",
    start: "items register",
    workflowId: registerItemsWorkflowId,
  });
}
