import type { Argument, Command, Option } from "commander";

/**
 * What can stand at one place of the command line: words of a fixed list, a file, or text that only the caller knows.
 */
export interface Value {
  readonly choices: readonly string[];
  readonly file: boolean;
}

export interface Flag extends Value {
  readonly name: string;
  readonly description: string;
  /** Whether another word must follow it. */
  readonly takesValue: boolean;
}

/** What can follow the words of one command. */
export interface CompletionRules {
  /** The command's words below the program's name: `sale show`; empty for the program itself. */
  readonly path: string;
  readonly subcommands: readonly { readonly name: string; readonly description: string }[];
  readonly flags: readonly Flag[];
  /** Of its arguments, whichever is next. */
  readonly argument: Value;
}

/** The rules of a command and of everything below it, from the tree that parses the command line. */
export function completionRules(command: Command, path: readonly string[] = []): CompletionRules[] {
  const help = command.createHelp();
  const below = help.visibleCommands(command);
  const values = command.registeredArguments.map(valueOf);
  const own: CompletionRules = {
    path: path.join(" "),
    subcommands: below.map((sub) => ({ name: sub.name(), description: sentence(sub.description()) })),
    flags: help.visibleOptions(command).flatMap((option) =>
      option.long === undefined || option.long === null
        ? []
        : [
            {
              ...valueOf(option),
              name: option.long,
              description: sentence(option.description),
              takesValue: option.required,
            },
          ],
    ),
    argument: { choices: values.flatMap(({ choices }) => choices), file: values.some(({ file }) => file) },
  };
  return [
    own,
    ...below.filter(({ parent }) => parent !== null).flatMap((sub) => completionRules(sub, [...path, sub.name()])),
  ];
}

function valueOf(value: Option | Argument): Value {
  const placeholder = "flags" in value ? value.flags.replace(/^[^<[]*/, "") : value.name();
  return { choices: value.argChoices ?? [], file: /file|folder/i.test(placeholder) };
}

/** The first sentence, without its stop: there is one line for it. */
function sentence(text: string): string {
  return (/^.*?(?=[.:;](\s|$)|$)/s.exec(text)?.[0] ?? text).replaceAll(/\s+/g, " ");
}
