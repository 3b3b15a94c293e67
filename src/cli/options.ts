import { type Command, InvalidArgumentError, Option } from "commander";
import type { z } from "zod";

import type { Config } from "../config/index.ts";
import { DEFAULT_CONNECTION, requireServed } from "../contract/index.ts";
import { printableText } from "../contract/schema/parse-input.ts";
import { businessIdentifier, connectionName } from "../contract/schema/sale.ts";
import { LONGEST_WAIT_SECONDS } from "../starter/bound.ts";
import { requireConnection } from "../starter/sale-key.ts";
import { UsageError } from "./context.ts";

/** Parses an argument by a schema of the contract. */
export function parsedBy<T>(schema: z.ZodType<T>): (value: string) => T {
  return (value) => {
    const parsed = schema.safeParse(value);
    if (parsed.success) return parsed.data;
    const [{ message } = { message: "expected another value" }] = parsed.error.issues;
    throw new InvalidArgumentError(`${message.charAt(0).toUpperCase()}${message.slice(1)}.`);
  };
}

export function wholeNumber(min: number, max: number): (value: string) => number {
  return (value) => {
    const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
    if (number >= min && number <= max) return number;
    throw new InvalidArgumentError(`Expected a whole number from ${min} to ${max}.`);
  };
}

export function waitSeconds(value: string): number {
  if (/^\d{1,5}$/.test(value) && Number(value) <= LONGEST_WAIT_SECONDS) return Number(value);
  throw new InvalidArgumentError(
    `Expected whole seconds up to ${LONGEST_WAIT_SECONDS}. Without a number, put --wait after the other arguments.`,
  );
}

/** `--wait [seconds]`, a minute where no number is given. */
export function waitOption(what: string): Option {
  return new Option("--wait [seconds]", `${what} (default: 60)`).preset("60").argParser(waitSeconds);
}

/** For `addHelpText`: what stands below the options. */
export function help(text: string, ...examples: string[]): ["after", string] {
  const title = examples.length > 1 ? "Examples:" : "Example:";
  const shown = [title, ...examples.map((example) => `  ${example}`)].join("\n");
  return ["after", `\n${text === "" ? "" : `${text}\n\n`}${shown}`];
}

/** Which connection and business are meant. */
export interface Scope {
  connection?: string;
  business?: string;
}

export function scopeOf({ connection, business }: { [Name in keyof Scope]: Scope[Name] | undefined }): Scope {
  return { ...(connection !== undefined && { connection }), ...(business !== undefined && { business }) };
}

export interface ResultFlags {
  json?: boolean;
}

/** The invoice number as an argument. An adopted sale may have a longer one than we issue. */
export const parseInvoice = parsedBy(printableText(1000));

/** What the commands that are printed for copying have in place of what only an operator knows. */
const TO_BE_FILLED_IN = /^<[^<>]+>$/;

/** A text of the caller, kept with what they ask for; never empty, and never what stands in a printed command. */
export function parseText(value: string): string {
  const text = value.trim();
  if (text === "") throw new InvalidArgumentError("Expected a text, found none.");
  if (TO_BE_FILLED_IN.test(text)) throw new InvalidArgumentError(`Expected your own text in place of ${text}.`);
  return value;
}

/** Of commands about one sale, or one business. */
export function withScope(command: Command): Command {
  return withFlags(command, "the configured connection (default: default)", "the business (default: the connection's)");
}

/** Of commands that show all connections and businesses where none is named. */
export function withFilters(command: Command): Command {
  return withFlags(command, ALL_CONNECTIONS, "only this business (default: all)");
}

/** The same of connections of the accounting service, which have no businesses. */
export function withConnectionFilter(command: Command): Command {
  return withFlags(command, ALL_CONNECTIONS);
}

const ALL_CONNECTIONS = "only this connection (default: all)";

export function withFlags(command: Command, connection: string, business?: string): Command {
  command.option("--connection <name>", connection, parsedBy(connectionName));
  if (business !== undefined) command.option("--business <id>", business, parsedBy(businessIdentifier));
  return command.option("--json", "print the result as JSON");
}

export interface BusinessScope {
  connection: string;
  businessId: string;
}

/**
 * The business that the flags name, with the configuration's default. Somebody without the worker's configuration, and
 * so without its keys, names the business and can look at what there is.
 * @throws UsageError, UnknownConnectionError
 */
export function businessOf(
  { compliance }: Pick<Config, "compliance">,
  { connection = DEFAULT_CONNECTION, business }: Scope,
): BusinessScope {
  const names = compliance.map(({ name }) => name);
  if (names.length > 0) requireConnection(names, connection);
  else if (business === undefined)
    throw new UsageError(
      `No connection is configured here, so the business of connection "${connection}" is not known. Give --business ID, or run with the worker's configuration.`,
    );
  const configured = compliance.find(({ name }) => name === connection);
  const businessId = business ?? configured?.businessId;
  if (businessId !== undefined) return { connection, businessId };
  const known = configured?.businesses.join(", ");
  const hint = known ? ` (configured: ${known})` : "";
  throw new UsageError(
    `The key of connection "${connection}" is organisation-wide and has no default business: give --business ID${hint}.`,
  );
}

/**
 * As {@link businessOf}, for what begins something new.
 * @throws UsageError, UnknownConnectionError, UnknownBusinessError
 */
export function servedBusinessOf(config: Pick<Config, "compliance">, flags: Scope): BusinessScope {
  const scope = businessOf(config, flags);
  const configured = config.compliance.find(({ name }) => name === scope.connection);
  if (configured) requireServed(configured.servedBusinesses, scope.businessId, scope.connection);
  return scope;
}
