import { type Command, Option } from "commander";

import {
  answersOf,
  type Attention,
  ATTENTION_CODES,
  isUnfilled,
  RESOLVED_BY,
  RESOLVING_UPDATES,
  type ResolvingUpdate,
  UPDATE_FORMS,
  type UpdateExample,
  updateExamples,
  type UpdateForm,
  type UpdateRequests,
} from "../../contract/index.ts";
import { waitSeconds } from "../arguments.ts";
import { UsageError } from "../cli-error.ts";
import type { CliContext } from "../context.ts";
import type { AnyJob } from "../jobs/job.ts";
import { shellWord } from "../output.ts";
import { commandLine, type CommandTarget } from "../sale/command-lines.ts";
import { parseInvoice, parseText, type ResultFlags, type Scope, withScope } from "../sale/scope.ts";

/**
 * The commands by which an operator answers: names, descriptions, options and examples are made from the declarations
 * of the updates in the contract. What a command does is in `send-updates.ts`, which it loads when it runs.
 */

/** Those that one command sends to many, and what its report calls it. The others are about one movement or document. */
const SENT_TO_MANY: Readonly<Partial<Record<ResolvingUpdate, string>>> = {
  retry: "retried",
  cancel: "cancelled",
  acknowledge: "acknowledged",
};

const OF_SALES = RESOLVING_UPDATES.filter((update) => update !== "resolveBatch");

export interface ManyFlags extends Scope, ResultFlags {
  query?: string;
  dryRun?: boolean;
  yes?: boolean;
}

/** Whom a command means by `--query`. */
export interface Many {
  /** `retry`, as in the question that is asked before. */
  verb: string;
  /** `retried`, as in the report afterwards. */
  done: string;
  of: "open" | "ended";
}

/** `retry`, `cancel`, `resolve-stock` and so on, and `restart`. */
export function registerSaleUpdates(sale: Command, context: CliContext): void {
  for (const update of OF_SALES) {
    const verb = kebab(update);
    const done = SENT_TO_MANY[update];
    const many: Many | undefined = done === undefined ? undefined : { verb, done, of: "open" };
    const command = withFieldsOf(
      update,
      sale.command(verb).argument(many ? "[invoice]" : "<invoice>", "the sale's number", parseInvoice),
      // The codes that a sale has say more than the list of all: the command itself names them.
      update === "acknowledge" ? ["code"] : [],
    );
    if (many) withMany(command, "open");
    if (update === "retry")
      command.option(
        "--wait [seconds]",
        "of one sale: wait for its outcome (default: 60), and end with 1 where it is cancelled or needs an operator again",
        waitSeconds,
      );
    const example = exampleOf(update);
    const lines = resolvingCommands(example, { invoice: "INV-1001" });
    const [{ flags } = { flags: [] }] = updateExamples(example).map(commandOf);
    const all = ["fiscalflow sale", verb, "--query", `"FiscalAttention = '${example.code}'"`, ...flags, "--dry-run"];
    withScope(command)
      .addHelpText("after", examplesText(many ? [...lines, all.join(" ")] : lines))
      .action(async () => {
        const { answerSale } = await import("./send-updates.ts");
        const [invoice] = command.processedArgs as [string | undefined];
        await answerSale(context, { update, many }, invoice, command.opts());
      });
  }
  registerRestart(sale, context);
}

function registerRestart(sale: Command, context: CliContext): void {
  const command = sale
    .command("restart")
    .description(
      "Start a sale anew whose workflow was terminated, failed or timed out: one, or all that a query finds.",
    )
    .argument("[invoice]", "the sale's number", parseInvoice)
    .requiredOption("--note <text>", "why; kept among the sale's decisions", parseText);
  withScope(withMany(command, "ended"))
    .addHelpText(
      "after",
      `
The new run takes over what the runs before did: their document, their stock movements, and what was decided and asked. Nothing is
issued or moved twice. Two restarts at the same moment give one run. A sale whose workflow is open, or completed, is refused.

Examples:
  fiscalflow sale restart INV-1001 --note 'terminated by mistake'
  fiscalflow sale restart --query 'FiscalBusiness = "biz_1"' --note 'batch termination at noon' --dry-run`,
    )
    .action(async () => {
      const { restartSales } = await import("./send-updates.ts");
      const [invoice] = command.processedArgs as [string | undefined];
      await restartSales(context, invoice, command.opts());
    });
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
    if (argument) {
      command.argument("<id>", argument.description, argument.parse);
      const named = { group: group.name(), operands: [`${group.name()}_1`] };
      command.addHelpText("after", examplesText(answerLines(exampleOf(update), named, {})));
    }
    jobOf("")
      .owner.withFlags(command)
      .action(async () => {
        const { answerJob } = await import("./send-updates.ts");
        const [id = ""] = command.processedArgs as [string | undefined];
        await answerJob(context, jobOf(id), { update, flags: command.opts() });
      });
  }
}

/** The options by which a command means many. */
function withMany(command: Command, of: Many["of"]): Command {
  const which = of === "open" ? "open sales" : "sales whose workflow ended so";
  return command
    .option("--query <query>", `all ${which} that match this Temporal filter`)
    .option("--dry-run", "with --query: only list what is found")
    .option("--yes", "with --query: do not ask first");
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
  return updateExamples(attention).map((example) => {
    const { update, flags } = commandOf(example);
    return commandLine({ group, verb: verbOf(update, group), operands, flags }, scope);
  });
}

/** What only an operator knows stands in angle brackets. */
function commandOf({ update, input }: UpdateExample): { update: ResolvingUpdate; flags: string[] } {
  const { required = [] }: UpdateForm = UPDATE_FORMS[update];
  const flags = optionsOf(update).flatMap(({ field, value, flag }) => {
    const text = input[field];
    if (value !== undefined) return text === value ? [flag] : [];
    if (typeof text !== "string") return [];
    return [flag, isUnfilled(update, field, text) ? `'<${text}>'` : shellWord(text)];
  });
  // An update that needs nothing said is sent as it is.
  return { update, flags: required.length === 0 ? [] : flags };
}

/** One that the update resolves. */
function exampleOf(update: ResolvingUpdate): Attention {
  const code = ATTENTION_CODES.find((one) => RESOLVED_BY[one].includes(update)) ?? "unexpected-answer";
  const subject = code.startsWith("stock-") ? { subject: "INV-1001/item_tea/sold" } : {};
  return { code, ...subject, message: "", sinceMs: 0, resolvedBy: [update] };
}

function examplesText(lines: readonly string[]): string {
  return ["", lines.length === 1 ? "Example:" : "Examples:", ...lines.map((line) => `  ${line}`)].join("\n");
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

/** What the update is for, and its fields. @param optional fields whose absence the command itself explains */
function withFieldsOf(update: ResolvingUpdate, command: Command, optional: readonly string[] = []): Command {
  const { purpose } = UPDATE_FORMS[update];
  command.summary(purpose.replace(/\. .*$/, ".")).description(purpose);
  for (const { field, option } of optionsOf(update))
    command.addOption(optional.includes(field) ? option.makeOptionMandatory(false) : option);
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
