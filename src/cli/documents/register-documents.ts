import type { Command } from "commander";

import type { CliContext } from "../context.ts";
import { registerList } from "../lists/register-list.ts";
import { withFilters } from "../sale/scope.ts";

export function registerDocuments(program: Command, context: CliContext): void {
  const documents = program
    .command("documents")
    .description("List every sale and credit note of a period, for the tax return, from the ledger.")
    .addHelpText(
      "after",
      `
Example:
  fiscalflow documents month --out documents.csv`,
    );
  registerList(documents, context, {
    nouns: "documents",
    noun: "document",
    counts:
      "Documents are listed by their own date. They count once the tax authority has accepted them (status completed).",
    withFilters,
    load: async () => (await import("./list-documents.ts")).listOfDocuments,
  });
}
