import type { Client, WorkflowExecutionInfo } from "@temporalio/client";
import type { Command } from "commander";

import {
  type ClosedStatus,
  nairobiInstant,
  nairobiTime,
  type ResolvingUpdate,
  SEARCH_ATTRIBUTES,
} from "../../contract/index.ts";
import { attributesOf } from "../../starter/attributes.ts";
import { closedStatusOf } from "../../starter/closed-run.ts";
import { CommandFailedError, UsageError } from "../cli-error.ts";
import { confirm, requireTerminal } from "../confirm.ts";
import type { CliContext } from "../context.ts";
import { describeError } from "../describe-error.ts";
import { printNote, printResult } from "../output.ts";
import { inParallel } from "./in-parallel.ts";
import { kebab, withFieldsOf } from "../update-options.ts";
import { operateOne, type OperatorFlags } from "./operate.ts";
import { parseInvoice, withScope } from "./scope.ts";
import { visibilityQuery } from "./visibility-query.ts";
import type { Sales } from "./with-sales.ts";

const CONCURRENCY = 10;
/** So many are shown before somebody is asked. */
const MOST_SHOWN = 20;
const PROGRESS_EVERY_MS = 1_000;
/** gRPC's INVALID_ARGUMENT. */
const INVALID_ARGUMENT = 3;

type Tried =
  | { kind: "done"; workflowId: string; message: string }
  | { kind: "skipped"; workflowId: string; reason: string }
  | { kind: "failed"; workflowId: string; error: string };

export interface ManyFlags extends OperatorFlags {
  query?: string;
  dryRun?: boolean;
  yes?: boolean;
}

/** An update, or a restart, that one command sends to many. */
export interface ManyCommand {
  /** `retry`, as in the question that is asked before. */
  verb: string;
  /** `retried`, as in the report afterwards. */
  done: string;
  of: "open" | "ended";
}

/** The options by which a command means many. */
export function withMany(command: Command, of: ManyCommand["of"]): Command {
  const which = of === "open" ? "open sales" : "sales whose workflow ended so";
  return command
    .option("--query <query>", `all ${which} that match this Temporal filter`)
    .option("--dry-run", "with --query: only list what is found")
    .option("--yes", "with --query: do not ask first");
}

/**
 * The command of an update: it has the options of the update's fields, and those that name a sale.
 * @param many whether it can be sent to all that a query finds
 */
export function answerCommand(
  sale: Command,
  update: ResolvingUpdate,
  { description, help, many = false, optional = [] }: AnswerCommand,
): Command {
  const named = sale
    .command(kebab(update))
    .description(description)
    .argument(many ? "[invoice]" : "<invoice>", "the sale's number", parseInvoice);
  const command = withFieldsOf(update, named, optional);
  if (many) withMany(command, "open");
  return withScope(command).addHelpText("after", `\n${help}`);
}

interface AnswerCommand {
  description: string;
  /** What stands below the options. */
  help: string;
  many?: boolean;
  /** Fields whose absence the command itself explains. */
  optional?: readonly string[];
}

/** Exactly one way to say what is meant, and somebody who agrees where many are meant. @throws UsageError */
export function requireOneWay(context: CliContext, invoice: string | undefined, flags: ManyFlags): void {
  const { query, dryRun = false, yes = false } = flags;
  if ((invoice === undefined) === (query === undefined))
    throw new UsageError("Give either the number of one sale, or --query for many.");
  if (query === undefined && (dryRun || yes)) throw new UsageError("--dry-run and --yes go with --query.");
  if (query === undefined || dryRun) return;
  const refusal = "--query asks before it acts, and nobody is there to ask. Add --yes, or look first with --dry-run.";
  requireTerminal(context, yes, refusal);
}

/** Sends an answer to the sale that is named, or to all that the query finds. */
export async function operateOneOrMany(
  context: CliContext,
  invoice: string | undefined,
  flags: ManyFlags,
  command: Omit<ManyCommand, "of">,
  send: (operate: Sales["operate"], workflowId: string) => Promise<{ message: string }>,
): Promise<void> {
  requireOneWay(context, invoice, flags);
  const { query } = flags;
  if (invoice !== undefined) await operateOne(context, invoice, flags, send);
  else if (query !== undefined) await operateMany(context, { ...flags, query }, { ...command, of: "open" }, send);
}

/** Sends it to every sale that the query finds, once somebody agrees; none that fails holds up the others. */
export async function operateMany(
  context: CliContext,
  flags: ManyFlags & { query: string },
  { verb, done, of }: ManyCommand,
  send: (operate: Sales["operate"], workflowId: string) => Promise<{ message: string }>,
): Promise<void> {
  const { withSales } = await import("./with-sales.ts");
  await nameDefaultServer(context);
  await withSales(context, async (sales) => {
    const { json, dryRun, yes } = flags;
    const targets = await found(context, sales, flags, of);
    if (dryRun === true) {
      const skips =
        of === "open" && targets.length > 0 ? " What does not wait for this is skipped when it is sent." : "";
      const text = [...targets.map(targetLine), `${targets.length} found; nothing was changed.${skips}`].join("\n");
      printResult(context, json, { dryRun, found: targets }, text);
      return;
    }
    printNote(context, `${targets.length} found.`);
    if (yes !== true && targets.length > 0) {
      printNote(context, targets.slice(0, MOST_SHOWN).map(targetLine).join("\n"));
      if (targets.length > MOST_SHOWN) printNote(context, `and ${targets.length - MOST_SHOWN} more`);
      await confirm(context, `${capital(verb)} ${targets.length}?`, "Nothing was changed.");
    }
    const workflowIds = targets.map(({ workflowId }) => workflowId);
    const counts = { done: 0, skipped: 0, failed: 0 };
    let lastReportAtMs = Date.now();
    const tried = await inParallel(
      workflowIds,
      CONCURRENCY,
      async (workflowId) => {
        const one = await tryOne(workflowId, () => send(sales.operate, workflowId));
        counts[one.kind] += 1;
        if (Date.now() - lastReportAtMs >= PROGRESS_EVERY_MS) {
          lastReportAtMs = Date.now();
          printNote(context, `${summary(counts, done)} of ${workflowIds.length}`);
        }
        return one;
      },
      context.signal,
    );
    const data = {
      [done]: tried.flatMap((one) => (one.kind === "done" ? [strip(one)] : [])),
      skipped: tried.flatMap((one) => (one.kind === "skipped" ? [strip(one)] : [])),
      failed: tried.flatMap((one) => (one.kind === "failed" ? [strip(one)] : [])),
    };
    const lines = tried.map((one) => `${one.workflowId}: ${resultText(one, done)}`);
    printResult(context, flags.json, data, [...lines, summary(counts, done)].join("\n"));
    if (counts.failed > 0) throw new CommandFailedError("");
  });
}

/** Many are changed at once: nobody should find out afterwards which server it was. */
async function nameDefaultServer(context: CliContext): Promise<void> {
  const { loadTemporalConnection } = await import("../../config/index.ts");
  const { temporalAddress } = await import("../../worker/require-temporal.ts");
  const temporal = loadTemporalConnection({ env: context.env });
  if (temporal.addressGiven) return;
  const where = `${temporalAddress(temporal)}, namespace ${temporal.namespace}`;
  printNote(context, `Temporal: ${where} (TEMPORAL_ADDRESS is not set)`);
}

interface Target {
  workflowId: string;
  number: string | null;
  stage: string | null;
  /** What an operator is needed for, or was when it ended. */
  attention: string | null;
  /** How its workflow ended, and when (ISO 8601); null of an open one. */
  ended: { status: ClosedStatus; at: string } | null;
}

async function found(
  context: CliContext,
  { client }: Sales,
  flags: ManyFlags,
  of: ManyCommand["of"],
): Promise<Target[]> {
  const executions: WorkflowExecutionInfo[] = [];
  const query = visibilityQuery({ ...flags, openOnly: of === "open", ended: of === "ended" });
  try {
    for await (const execution of client.workflow.list({ query })) executions.push(execution);
  } catch (error) {
    const cause = error instanceof Error ? error.cause : undefined;
    const grpc = [error, cause].find((one) => one instanceof Error && "details" in one && "code" in one);
    if (grpc instanceof Error && "code" in grpc && grpc.code === INVALID_ARGUMENT && "details" in grpc) {
      const sent = `It was sent as: ${query}`;
      throw new UsageError(`Temporal does not understand the query: ${String(grpc.details)}. ${sent}`, {
        cause: error,
      });
    }
    throw error;
  }
  const wanted = of === "ended" ? await endedAsRowsSay(context, client, executions) : executions;
  return wanted.map((execution) => {
    const attributes = attributesOf(execution);
    const { stage, attention, invoice } = SEARCH_ATTRIBUTES;
    return {
      workflowId: execution.workflowId,
      number: attributes.get(invoice) ?? null,
      stage: attributes.get(stage) ?? null,
      attention: attributes.get(attention) ?? null,
      ended: endOf(execution),
    };
  });
}

/** Of runs that ended: the last one of each sale that its row says nothing carries on. */
async function endedAsRowsSay(
  context: CliContext,
  client: Client,
  executions: readonly WorkflowExecutionInfo[],
): Promise<WorkflowExecutionInfo[]> {
  const { keepUnseenClosedRuns, nameOf, saleOfRun } = await import("../../worker/watch-closed-runs.ts");
  const { withLedger } = await import("../with-ledger.ts");
  const last = new Map<string, WorkflowExecutionInfo>();
  // The latest are listed first.
  for (const run of executions) if (!last.has(run.workflowId)) last.set(run.workflowId, run);
  const named = [...last.values()].flatMap((run) => [saleOfRun(run)].flatMap((sale) => (sale ? [{ run, sale }] : [])));
  return await withLedger(
    context,
    async (ledger) => {
      await keepUnseenClosedRuns(client, ledger);
      const ended = await ledger.documents.among(
        named.map(({ sale }) => sale),
        "ended",
      );
      const isEnded = new Set(ended.map(nameOf));
      return named.flatMap(({ run, sale }) => (isEnded.has(nameOf(sale)) ? [run] : []));
    },
    { forMachines: true, mayBeEmpty: true },
  );
}

function endOf({ status, closeTime }: WorkflowExecutionInfo): Target["ended"] {
  const closed = closedStatusOf(status.name);
  return closed === undefined || closeTime === undefined
    ? null
    : { status: closed, at: nairobiInstant(closeTime.getTime()) };
}

function targetLine({ workflowId, number, stage, attention, ended }: Target): string {
  const end = ended && `${ended.status} ${nairobiTime(Date.parse(ended.at))}`;
  // An id bounds and escapes what it is made of.
  const isNamedById = number === null || workflowId.endsWith(`/${number}`);
  return [isNamedById ? workflowId : `${number} (${workflowId})`, stage ?? "stage unknown", attention, end]
    .filter((part) => part !== null)
    .join(", ");
}

function capital(word: string): string {
  return `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
}

async function tryOne(workflowId: string, send: () => Promise<{ message: string }>): Promise<Tried> {
  try {
    return { kind: "done", workflowId, message: (await send()).message };
  } catch (error) {
    const { message } = describeError(error, { withStack: false });
    // It does not wait for this, or is closed since it was found.
    const isSkipped = error instanceof Error && ["NotAllowedError", "SaleNotFoundError"].includes(error.name);
    return isSkipped
      ? { kind: "skipped", workflowId, reason: message }
      : { kind: "failed", workflowId, error: message };
  }
}

function strip<One extends Tried>({ kind: _kind, ...rest }: One): Omit<One, "kind"> {
  return rest;
}

function resultText(one: Tried, done: string): string {
  if (one.kind === "done") return `${done}: ${one.message}`;
  return one.kind === "skipped" ? `skipped: ${one.reason}` : `failed: ${one.error}`;
}

function summary(counts: { done: number; skipped: number; failed: number }, done: string): string {
  return `${counts.done} ${done}, ${counts.skipped} skipped, ${counts.failed} failed`;
}
