import { type Command, InvalidArgumentError } from "commander";

import { businessIdentifier, connectionName } from "../../contract/schema/sale.ts";
import { invoiceNumber } from "../../contract/schema/parse-input.ts";
import { parsedBy } from "../arguments.ts";

/** Which connection and business are meant; what every command about one sale or one business takes. */
export interface Scope {
  connection?: string;
  business?: string;
}

/** Of flags, or an input, that say more. */
export function scopeOf({ connection, business }: { [Name in keyof Scope]: Scope[Name] | undefined }): Scope {
  return { ...(connection !== undefined && { connection }), ...(business !== undefined && { business }) };
}

export interface ResultFlags {
  json?: boolean;
}

/** The invoice number as an argument. An adopted sale may have a longer one than we issue. */
export const parseInvoice = parsedBy(invoiceNumber(1000));

/** What the commands that are printed for copying have in place of what only an operator knows. */
const TO_BE_FILLED_IN = /^<[^<>]+>$/;

/** A text of the caller, kept with what they ask for; never empty, and never what stands in a printed command. */
export function parseText(value: string): string {
  const text = value.trim();
  if (text === "") throw new InvalidArgumentError("Expected a text, found none.");
  if (TO_BE_FILLED_IN.test(text)) throw new InvalidArgumentError(`Expected your own text in place of ${text}.`);
  return value;
}

/** Of commands that show all connections and businesses where none is named. */
export function withFilters(command: Command): Command {
  return withJson(
    filterByConnection(command).option(
      "--business <id>",
      "only this business (default: all)",
      parsedBy(businessIdentifier),
    ),
  );
}

/** Of commands that show all connections of the accounting service, which have no businesses. */
export function withConnectionFilter(command: Command): Command {
  return withJson(filterByConnection(command));
}

function filterByConnection(command: Command): Command {
  return command.option("--connection <name>", "only this connection (default: all)", parsedBy(connectionName));
}

function withJson(command: Command): Command {
  return command.option("--json", "print the result as JSON");
}

export function withScope(command: Command): Command {
  return withJson(
    command
      .option("--connection <name>", "the configured connection (default: default)", parsedBy(connectionName))
      .option("--business <id>", "the business (default: the connection's)", parsedBy(businessIdentifier)),
  );
}
