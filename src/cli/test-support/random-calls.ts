import type { Command } from "commander";
import fc from "fast-check";

import { addDevCommands } from "../../dev/commands.ts";
import { createProgram, runCli } from "../run-cli.ts";
import { NO_TEMPORAL } from "./call-cli.ts";

/** Every command and group of commands, by the words that name it. */
export const COMMANDS = commandsOf(programOfAll());

function programOfAll(): Command {
  const { stdin, stdout, stderr } = process;
  const context = { env: {}, stdin, stdout, stderr, signal: new AbortController().signal };
  const program = createProgram(context);
  addDevCommands(program, context, runCli);
  return program;
}

function commandsOf(group: Command, words: readonly string[] = []): string[][] {
  return group.commands.flatMap((command) => {
    const path = [...words, command.name()];
    return [path, ...commandsOf(command, path)];
  });
}

/**
 * What makes random calls harmless: nobody listens where Temporal is looked for, and no ledger is where they look for
 * one, whatever stands in the folder in which the tests run. `--out` is none of the flags below: it would write files of
 * random names.
 */
export const OUT_OF_REACH = { ...NO_TEMPORAL, FISCALFLOW_HOME: "/nonexistent/fiscalflow" };

/** They go on until somebody ends them. */
const ENDLESS = ["demo", "worker", "callbacks", "codec", "simulator"];

const SALE = '{"traderInvoiceNumber":"INV-1","lines":[{"sku":"TEA","quantity":1,"unitPrice":1}]}';
const SWITCHES = [
  "--json",
  "--wait",
  "--applied",
  "--not-applied",
  "--not-created",
  "--restock",
  "--attention",
  "--yes",
  "--ended",
  "--check",
  "--help",
];
const WITH_VALUE = (
  "--connection --business --note --query --limit --code --subject --reason --number --date --reference --sale " +
  "--wait --port --host --scenario --keep --until"
).split(" ");

const odd = fc.constantFrom(
  "",
  " ",
  "-",
  "--",
  "/",
  "0",
  "-1",
  "NaN",
  "1e9",
  "__proto__",
  "constructor",
  "\u001B[2J",
  "\ud800",
);
const good = fc.constantFrom("INV-1", "default", "biz_1", "06", "2026-02-29", "20", "mismatch", "completed", "sal_1");
const value = fc.oneof(good, odd, fc.string({ unit: "binary", maxLength: 12 }), fc.string({ maxLength: 300 }));

/** Anything at all. */
const words = fc.array(fc.oneof(fc.constantFrom(...COMMANDS.flat(), ...SWITCHES, ...WITH_VALUE), value), {
  maxLength: 7,
});

/** What the caller might have meant: a command, some of its arguments and flags, each with a value of any kind. */
const flag = fc.oneof(
  fc.constantFrom(...SWITCHES).map((name) => [name]),
  fc.tuple(fc.constantFrom(...WITH_VALUE), value),
);
const nearlyRight = fc
  .tuple(fc.constantFrom(...COMMANDS), fc.array(value, { maxLength: 2 }), fc.array(flag, { maxLength: 5 }))
  .map(([command, given, flags]) => [...command, ...given, ...flags.flat()]);

const nearlyASale = fc
  .record(
    {
      traderInvoiceNumber: fc.oneof(good, value),
      lines: fc.oneof(fc.constant([{ sku: "TEA", quantity: 1, unitPrice: 1 }]), fc.jsonValue()),
      connection: value,
      saleDate: value,
      customer: fc.jsonValue(),
    },
    { requiredKeys: [] },
  )
  .map((sale) => JSON.stringify(sale));

export interface RandomCall {
  argv: string[];
  stdin: string;
  /** It names a command that does not end by itself. */
  endless: boolean;
}

export const randomCall: fc.Arbitrary<RandomCall> = fc
  .record({
    argv: fc.oneof(words, nearlyRight, fc.constant<string[]>(["sale", "start", "-"])),
    stdin: fc.oneof(fc.json(), fc.string({ unit: "binary" }), fc.constant(SALE), nearlyASale),
  })
  .map(({ argv, stdin }) => ({ argv, stdin, endless: argv.some((one) => ENDLESS.includes(one)) }));

/** What nobody should get to see: a stack, an error of the language, an object in place of its text. */
export const NOT_FOR_PEOPLE = /\n\s+at .*:\d+:\d+|TypeError|RangeError|URIError|ReferenceError|\[object Object\]/;
