import { type Attention, DEFAULT_CONNECTION, updateExamples } from "../../contract/index.ts";
import { shellWord } from "../output.ts";
import { commandOf } from "../update-options.ts";
import { type Scope, scopeOf } from "./scope.ts";

export interface CommandTarget extends Scope {
  invoice: string;
}

/**
 * The command lines that resolve an attention, ready to be pasted; what only an operator knows stands in angle
 * brackets.
 */
export function resolvingCommands(attention: Attention, target: CommandTarget): string[] {
  return updateExamples(attention).map((example) => commandLine(commandOf(example), target));
}

/** The command line that starts a sale anew whose workflow ended without an outcome. */
export function restartCommand(target: CommandTarget): string {
  return commandLine({ verb: "restart", flags: ["--note", "'<why>'"] }, target);
}

/** The command line that reverses a completed sale. */
export function refundCommand(target: CommandTarget): string {
  return commandLine({ verb: "refund", flags: ["--reason", "'<code>'", "--number", "'<of the credit note>'"] }, target);
}

/** The command line that reverses a completed sale, and issues the corrected one. */
export function correctCommand(target: CommandTarget): string {
  const operands = ["'<file of the corrected sale>'"];
  const flags = ["--reason", "'<code>'", "--number", "'<of the credit note>'"];
  return commandLine({ verb: "correct", operands, flags }, target);
}

/** The command line that shows a sale. */
export function showCommand(invoice: string, scope: Scope): string {
  return commandLine({ verb: "show", flags: [] }, { invoice, ...scopeOf(scope) });
}

/** What names the connection and the business in a command, where they are not the default. */
export function scopeFlags({ connection = DEFAULT_CONNECTION, business }: Scope): string[] {
  return [
    ...(connection === DEFAULT_CONNECTION ? [] : ["--connection", connection]),
    ...(business === undefined ? [] : ["--business", shellWord(business)]),
  ];
}

interface CommandWords {
  verb: string;
  /** Behind the number. */
  operands?: string[];
  flags: string[];
}

/** A command line about one sale, ready to be pasted. */
export function commandLine({ verb, operands = [], flags }: CommandWords, target: CommandTarget): string {
  const { invoice } = target;
  const scope = scopeFlags(target);
  // Behind `--` a number that begins with a hyphen is no flag.
  const words = invoice.startsWith("-")
    ? [...flags, ...scope, "--", shellWord(invoice), ...operands]
    : [shellWord(invoice), ...operands, ...flags, ...scope];
  return ["fiscalflow", "sale", verb, ...words].join(" ");
}
