import { type Command, Option } from "commander";

import {
  answersOf,
  type Attention,
  ATTENTION_CODES,
  isUnfilled,
  RESOLVED_BY,
  RESOLVING_UPDATES,
  type ResolvingUpdate,
  shellWord,
  UPDATE_FORMS,
  type UpdateExample,
  updateExamples,
  type UpdateForm,
  type UpdateRequests,
} from "../../contract/index.ts";
import { type CliContext, UsageError } from "../context.ts";
import type { AnyJob } from "../jobs/jobs.ts";
import { help, parseInvoice, parseText, type ResultFlags, type Scope, withScope } from "../options.ts";
import { commandLine, type CommandTarget } from "../sale/lines.ts";

/**
 * The commands by which an operator answers: names, descriptions, options and examples are made from the declarations
 * of the updates in the contract. What a command does is in `send-updates.ts`, which it loads when it runs.
 */

/** Those that one command sends to many. The others are about one movement or document. */
const SENT_TO_MANY: readonly ResolvingUpdate[] = ["retry", "cancel", "acknowledge"];

export interface AnswerFlags extends Scope, ResultFlags {
  query?: string;
  yes?: boolean;
  note?: string;
}

const NUMBER = "the sale's number";

/** `retry`, `cancel`, `resolve-stock` and so on, and `restart`. */
export function registerSaleUpdates(sale: Command, context: CliContext): void {
  const sends = (update: ResolvingUpdate | "restart") => async (invoice: string | undefined, flags: AnswerFlags) => {
    const { answerSales } = await import("./send-updates.ts");
    await answerSales(context, update, invoice, flags);
  };
  for (const update of RESOLVING_UPDATES.filter((one) => one !== "resolveBatch")) {
    const verb = kebab(update);
    const isForMany = SENT_TO_MANY.includes(update);
    const command = withFieldsOf(update, sale.command(verb));
    command.argument(isForMany ? "[invoice]" : "<invoice>", NUMBER, parseInvoice);
    if (isForMany) withMany(command, "open sales");
    const example = exampleOf(update);
    const lines = resolvingCommands(example, { invoice: "INV-1001" });
    const [first] = updateExamples(example);
    if (isForMany && first)
      lines.push(
        `fiscalflow sale ${[verb, "--query", `"FiscalAttention = '${example.code}'"`, ...flagsOf(first)].join(" ")}`,
      );
    withScope(command)
      .addHelpText(...help("", ...lines))
      .action(sends(update));
  }
  const restart = sale
    .command("restart")
    .description(
      "Start a sale anew whose workflow was terminated, failed or timed out: one, or all that a query finds.",
    )
    .argument("[invoice]", NUMBER, parseInvoice)
    .requiredOption("--note <text>", "why; kept among the sale's decisions", parseText);
  withScope(withMany(restart, "sales whose workflow ended so"))
    .addHelpText(
      ...help(
        `The new run takes over what the runs before did: their document, their stock movements, and what was decided and asked. Nothing is
issued or moved twice. Two restarts at the same moment give one run. A sale whose workflow is open, or completed, is refused.`,
        "fiscalflow sale restart INV-1001 --note 'terminated by mistake'",
        `fiscalflow sale restart --query 'FiscalBusiness = "biz_1"' --note 'batch termination at noon' --yes`,
      ),
    )
    .action(sends("restart"));
}

function withMany(command: Command, which: string): Command {
  return command
    .option("--query <query>", `all ${which} that match this Temporal filter`)
    .option("--yes", "with --query: do it; without it, what is found is only listed");
}

/**
 * `purchases retry`, `batch resolve` and so on.
 * @param jobOf the one that a business has, or the one that the argument names
 */
export function registerJobUpdates(
  group: Command,
  context: CliContext,
  jobOf: (id: string) => AnyJob,
  {
    updates = ["retry", "acknowledge"],
    argument,
  }: { updates?: readonly ResolvingUpdate[]; argument?: { description: string; parse: (text: string) => string } } = {},
): void {
  for (const update of updates) {
    const command = withFieldsOf(update, group.command(verbOf(update, group.name())));
    if (argument) command.argument("<id>", argument.description, argument.parse);
    const named = { group: group.name(), operands: argument ? [`${group.name()}_1`] : [] };
    command.addHelpText(...help("", ...answerLines(exampleOfJob(update), named, {})));
    jobOf("")
      .owner.withFlags(command)
      .action(async () => {
        const { answerJob } = await import("./send-updates.ts");
        const [id = ""] = command.processedArgs as [string | undefined];
        await answerJob(context, jobOf(id), { update, flags: command.opts() });
      });
  }
}

/** The command lines that resolve an attention of a sale. */
export function resolvingCommands(attention: Attention, { invoice, ...scope }: CommandTarget): string[] {
  return answerLines(attention, { group: "sale", operands: [invoice] }, scope);
}

/** The same of any workflow. @param named whose it is: the words before and behind the verb */
export function answerLines(
  attention: Attention,
  { group, operands }: { group: string; operands: readonly string[] },
  scope: Scope,
): string[] {
  return updateExamples(attention).map((example) =>
    commandLine(`${group} ${verbOf(example.update, group)}`, operands, flagsOf(example), scope),
  );
}

/** What only an operator knows stands in angle brackets. */
function flagsOf({ update, input }: UpdateExample): string[] {
  const { required = [] }: UpdateForm = UPDATE_FORMS[update];
  // An update that needs nothing said is sent as it is.
  if (required.length === 0) return [];
  return optionsOf(update).flatMap(({ field, value, flag }) => {
    const text = input[field];
    if (value !== undefined) return text === value ? [flag] : [];
    if (typeof text !== "string") return [];
    return [flag, isUnfilled(update, field, text) ? `'<${text}>'` : shellWord(text)];
  });
}

function exampleOf(update: ResolvingUpdate): Attention {
  const code = ATTENTION_CODES.find((one) => RESOLVED_BY[one].includes(update)) ?? "unexpected-answer";
  const subject = code.startsWith("stock-") ? { subject: "INV-1001/item_tea/sold" } : {};
  return { code, ...subject, message: "", sinceMs: 0, resolvedBy: [update] };
}

/** By a code that every job may have. */
function exampleOfJob(update: ResolvingUpdate): Attention {
  return { ...exampleOf(update), code: "unexpected-answer" };
}

interface FieldOption {
  readonly field: string;
  /** Of a field that is true or false: which one the option says. */
  readonly value?: boolean;
  /** Whether it is one of several answers, of which exactly one is given. */
  readonly isAnswer: boolean;
  readonly flag: string;
  readonly option: Option;
}

/** In the declaration's order. There is none for `by`: the user who runs the command answers for it. */
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
    const about = isAnswer ? when : description.charAt(0).toLowerCase() + description.slice(1).replace(/\.$/, "");
    const flag = `--${name}`;
    const option = new Option(`${flag} <${field.endsWith("Id") ? "id" : choices ? name : "text"}>`, about);
    option.argParser(parseText).makeOptionMandatory(required.includes(field));
    return [{ field, isAnswer, flag, option: choices ? option.choices(choices) : option }];
  });
}

function withFieldsOf(update: ResolvingUpdate, command: Command): Command {
  const { purpose } = UPDATE_FORMS[update];
  command.summary(purpose.replace(/\. .*$/, ".")).description(purpose);
  for (const { option } of optionsOf(update)) command.addOption(option);
  return command;
}

/** The update's JSON out of the flags of its command. @throws UsageError where they give no answer, or two */
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

/** `resolve-stock`; in the group `batch` `resolve`, and not `resolve-batch`. */
function verbOf(update: ResolvingUpdate, group: string): string {
  return kebab(update).replace(`-${group}`, "");
}

function kebab(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
