import { type Command, Option } from "commander";

import {
  answersOf,
  isUnfilled,
  type ResolvingUpdate,
  UPDATE_FORMS,
  type UpdateExample,
  type UpdateForm,
  type UpdateRequests,
} from "../contract/index.ts";
import { UsageError } from "./cli-error.ts";
import { shellWord } from "./output.ts";
import { parseText } from "./sale/scope.ts";

/** What an operator's update takes, as the options of a command: out of its declaration in the contract. */

interface FieldOption {
  readonly field: string;
  /** Of a field that is true or false: which one the option says. */
  readonly value?: boolean;
  /** Whether it is one of several answers, of which exactly one is given. */
  readonly isAnswer: boolean;
  readonly flag: string;
  readonly option: Option;
}

/** In the declaration's order. There is none for `by`: whoever runs the command answers for it. */
function optionsOf(update: ResolvingUpdate): FieldOption[] {
  const answers = answersOf(update);
  const { properties, required = [], oneOf = [] }: UpdateForm = UPDATE_FORMS[update];
  return Object.entries(properties).flatMap(([field, { type, const: only, enum: choices, description = "" }]) => {
    if (field === "by") return [];
    const name = kebab(field.replace(/Id$/, ""));
    if (type === "boolean")
      return (only ? [true] : [true, false]).map((value) => {
        const flag = value ? `--${name}` : `--not-${name}`;
        const [when] = answers.find(([, input]) => input[field] === value) ?? [];
        return { field, value, isAnswer: true, flag, option: new Option(flag, when) };
      });
    const isAnswer = oneOf.some(({ required: [one] }) => one === field);
    const [when] = answers.find(([, input]) => field in input) ?? [];
    const help = isAnswer ? when : description.charAt(0).toLowerCase() + description.slice(1).replace(/\.$/, "");
    const flag = `--${name}`;
    const option = new Option(`${flag} <${field.endsWith("Id") ? "id" : choices ? name : "text"}>`, help);
    option.argParser(parseText).makeOptionMandatory(required.includes(field));
    return [{ field, isAnswer, flag, option: choices ? option.choices(choices) : option }];
  });
}

/** Adds the options of an update to a command. @param optional fields whose absence the command itself explains */
export function withFieldsOf(update: ResolvingUpdate, command: Command, optional: readonly string[] = []): Command {
  for (const { field, option } of optionsOf(update))
    command.addOption(optional.includes(field) ? option.makeOptionMandatory(false) : option);
  return command;
}

/** The update's JSON out of the flags of such a command. @throws UsageError where they give no answer, or two */
export function requestOf<Update extends ResolvingUpdate>(update: Update, flags: object): UpdateRequests[Update] {
  const values = new Map<string, unknown>(Object.entries(flags));
  const options = optionsOf(update);
  const given = options.filter(({ option }) => values.has(option.attributeName()));
  const answers = options.filter(({ isAnswer }) => isAnswer);
  if (answers.length > 0 && given.filter(({ isAnswer }) => isAnswer).length !== 1) {
    const flagsInWords = answers.map(({ option }) =>
      option.flags.replace(/<\w+>/, (word) => word.slice(1, -1).toUpperCase()),
    );
    throw new UsageError(`Give exactly one of ${flagsInWords.join(" and ")}.`);
  }
  const fields = given.map(({ field, value, option }) => [field, value ?? values.get(option.attributeName())] as const);
  return Object.fromEntries(fields) as UpdateRequests[Update];
}

/** The command that sends an answer, ready to be pasted; what only an operator knows stands in angle brackets. */
export function commandOf({ update, input }: UpdateExample): { verb: string; flags: string[] } {
  const { required = [] }: UpdateForm = UPDATE_FORMS[update];
  const flags = optionsOf(update).flatMap(({ field, value, flag }) => {
    const text = input[field];
    if (value !== undefined) return text === value ? [flag] : [];
    if (typeof text !== "string") return [];
    return [flag, isUnfilled(update, field, text) ? `'<${text}>'` : shellWord(text)];
  });
  // An update that needs nothing said is sent as it is.
  return { verb: kebab(update), flags: required.length === 0 ? [] : flags };
}

/** `resolve-stock` */
export function kebab(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
