import type { Client, WorkflowExecutionInfo } from "@temporalio/client";

import { loadConfig } from "../../config/index.ts";
import {
  type ClosedStatus,
  type JobReply,
  nairobiInstant,
  nairobiTime,
  type ResolvingUpdate,
  SEARCH_ATTRIBUTES,
} from "../../contract/index.ts";
import { attributesOf } from "../../starter/attributes.ts";
import { closedStatusOf } from "../../starter/closed-run.ts";
import { GRPC, grpcErrorsOf } from "../../starter/grpc.ts";
import { operations } from "../../starter/operate.ts";
import { stateOfSale } from "../../starter/state-of-sale.ts";
import { keepUnseenClosedRuns, nameOf, saleOfRun } from "../../worker/each-minute.ts";
import { CommandFailedError, UsageError } from "../cli-error.ts";
import { confirm, requireTerminal } from "../confirm.ts";
import { withTemporal } from "../connect-temporal.ts";
import type { CliContext } from "../context.ts";
import { describeError } from "../describe-error.ts";
import type { AnyJob } from "../jobs/job.ts";
import { printNote, printResult } from "../output.ts";
import { contradiction } from "../sale/balance-lines.ts";
import { isNotFound, orCommands, showCommand } from "../sale/command-lines.ts";
import { inParallel } from "../sale/in-parallel.ts";
import { isUnsuccessful, outcomeLine } from "../sale/render-document.ts";
import type { ResultFlags, Scope } from "../sale/scope.ts";
import { troubleNotes } from "../sale/trouble-notes.ts";
import { visibilityQuery } from "../sale/visibility-query.ts";
import { type Sales, withSales } from "../sale/with-sales.ts";
import { withLedger } from "../with-ledger.ts";
import { type Many, type ManyFlags, requestOf, resolvingCommands } from "./operating-commands.ts";

type Reply = JobReply & { result?: string };
type Send = (sales: Sales, workflowId: string) => Promise<Reply>;

interface AnswerFlags extends ManyFlags {
  code?: string;
  wait?: true | number;
}

/** Sends an operator's answer to the sale that is named, or to all that `--query` finds. */
export async function answerSale(
  context: CliContext,
  { update, many }: { update: ResolvingUpdate; many: Many | undefined },
  invoice: string | undefined,
  flags: AnswerFlags,
): Promise<void> {
  if (many) requireOneWay(context, invoice, flags);
  if (flags.wait !== undefined && invoice === undefined)
    throw new UsageError("--wait goes with one sale: leave --query out.");
  if (update === "acknowledge" && flags.code === undefined) throw await codeIsMissing(context, invoice, flags);
  const request = requestOf(update, flags);
  const send: Send = ({ operate }, workflowId) => answer(operate, workflowId, update, request);
  if (invoice === undefined) {
    if (many) await toMany(context, flags, many, send);
    return;
  }
  const { wait } = flags;
  if (wait !== undefined) await toOneAndWait(context, invoice, flags, { send, seconds: wait === true ? 60 : wait });
  else if (update === "resolveStock") await resolveStock(context, invoice, flags, send);
  else await toOne(context, invoice, flags, send);
}

/** Starts sales anew whose workflow ended without an outcome. */
export async function restartSales(
  context: CliContext,
  invoice: string | undefined,
  flags: ManyFlags & { note: string },
): Promise<void> {
  requireOneWay(context, invoice, flags);
  const send: Send = async ({ operate }, workflowId) => {
    const reply = await operate.restart(workflowId, { note: flags.note });
    const message =
      reply.result === "restarted"
        ? "the new run takes over what the run before did, and goes on with the rest. A rejected document is submitted again."
        : "somebody else has restarted it; nothing was started here.";
    return {
      ...reply,
      message: invoice !== undefined && reply.result === "restarted" ? `restarted; ${message}` : message,
    };
  };
  if (invoice !== undefined) await toOne(context, invoice, flags, send);
  else await toMany(context, flags, { verb: "restart", done: "restarted", of: "ended" }, send);
}

/** Sends an operator's answer to a background job. */
export async function answerJob(
  context: CliContext,
  job: AnyJob,
  { update, flags }: { update: ResolvingUpdate; flags: Scope & ResultFlags },
): Promise<void> {
  const request = requestOf(update, flags);
  const workflowId = job.workflowId(job.owner.of(loadConfig({ env: context.env }), flags));
  await withTemporal(context, async ({ client }) => {
    const reply = await answer(operations(client), workflowId, update, request).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
      const check = `Check the connection, and the business or id; or start it: fiscalflow ${job.start}`;
      throw new CommandFailedError(`No ${job.noun} runs as ${workflowId}, so nothing waits for an operator. ${check}`);
    });
    printResult(context, flags.json, { workflowId, ...reply }, `${workflowId}: ${reply.message}`);
  });
}

function answer(
  operate: ReturnType<typeof operations>,
  workflowId: string,
  update: ResolvingUpdate,
  request: object,
): Promise<Reply> {
  const send = operate[update] as (workflowId: string, request: object) => Promise<JobReply>;
  return send(workflowId, request);
}

/** Exactly one way to say what is meant, and somebody who agrees where many are meant. @throws UsageError */
function requireOneWay(context: CliContext, invoice: string | undefined, flags: ManyFlags): void {
  const { query, dryRun = false, yes = false } = flags;
  if ((invoice === undefined) === (query === undefined))
    throw new UsageError("Give either the number of one sale, or --query for many.");
  if (query === undefined && (dryRun || yes)) throw new UsageError("--dry-run and --yes go with --query.");
  if (query === undefined || dryRun) return;
  const refusal = "--query asks before it acts, and nobody is there to ask. Add --yes, or look first with --dry-run.";
  requireTerminal(context, yes, refusal);
}

/** Prints what is true afterwards. @param follows what the answer means from now on */
async function toOne(
  context: CliContext,
  invoice: string,
  flags: ManyFlags,
  send: Send,
  follows?: string,
): Promise<void> {
  await withSales(context, async (sales) => {
    const workflowId = sales.starter.workflowId(sales.keyOf(invoice, flags));
    const reply = await send(sales, workflowId).catch(orCommands({ ...flags, invoice }));
    printResult(context, flags.json, { workflowId, ...reply }, `${invoice}: ${reply.message}`);
    if (follows !== undefined) printNote(context, follows);
  });
}

async function toOneAndWait(
  context: CliContext,
  invoice: string,
  flags: AnswerFlags,
  { send, seconds }: { send: Send; seconds: number },
): Promise<void> {
  await withSales(context, async (sales) => {
    const key = sales.keyOf(invoice, flags);
    const sent = send(sales, sales.starter.workflowId(key));
    const { message } = await sent.catch(orCommands({ ...flags, invoice }));
    const waited = sales.starter.outcome(key, { waitSeconds: seconds });
    const outcome = await troubleNotes(context, sales).during(key, waited);
    printResult(context, flags.json, { message, outcome }, `${invoice}: ${message} ${outcomeLine(outcome)}`);
    if (isUnsuccessful(outcome)) throw new CommandFailedError("");
  });
}

const COUNTS_AS_MADE = "The movement counts as made: it is not sent again.";
const IS_SENT_AGAIN =
  "The movement is sent again under the same reference. If it had been booked after all, it is booked twice.";

/** The item's balance is evidence alone, so it warns and never refuses. */
async function resolveStock(context: CliContext, invoice: string, flags: ManyFlags, send: Send): Promise<void> {
  const { referenceId, applied } = requestOf("resolveStock", flags);
  const warned: Send = async (sales, workflowId) => {
    const state = await stateOfSale(sales.client, sales.keyOf(invoice, flags)).catch((error: unknown) => {
      // The update says it better.
      if (isNotFound(error)) return undefined;
      throw error;
    });
    const asked = state?.attentions.find(({ code, subject }) => code === "stock-unknown" && subject === referenceId);
    const warning = asked && contradiction(asked, applied);
    if (warning !== undefined) printNote(context, warning);
    const reply = await send(sales, workflowId);
    const message =
      reply.attention === undefined
        ? "Recorded: nothing is left for you to do."
        : `Recorded: an operator is still needed (${reply.attention}), see ${showCommand(invoice, flags)}.`;
    return { ...reply, message };
  };
  await toOne(context, invoice, flags, warned, applied ? COUNTS_AS_MADE : IS_SENT_AGAIN);
}

/** With the commands that would do: which attentions a sale has, only `sale show` would tell otherwise. */
async function codeIsMissing(context: CliContext, invoice: string | undefined, flags: ManyFlags): Promise<UsageError> {
  const missing = "Give --code, the attention code to acknowledge";
  if (invoice === undefined) return new UsageError(`${missing}.`);
  return await withSales(context, async (sales) => {
    const { attentions } = await sales.starter.getSale(sales.keyOf(invoice, flags));
    const mine = attentions.filter(({ resolvedBy }) => resolvedBy.includes("acknowledge"));
    const commands = mine.flatMap((one) =>
      resolvingCommands({ ...one, resolvedBy: ["acknowledge"] }, { ...flags, invoice }),
    );
    if (commands.length === 0)
      return new UsageError(`${missing}. The sale ${invoice} has none that can be acknowledged.`);
    return new UsageError([`${missing}:`, ...commands].join("\n  "));
  });
}

const CONCURRENCY = 10;
/** So many are shown before somebody is asked. */
const MOST_SHOWN = 20;
const PROGRESS_EVERY_MS = 1_000;

type Tried = { workflowId: string } & (
  | { kind: "done"; message: string }
  | { kind: "skipped"; reason: string }
  | { kind: "failed"; error: string }
);

/** Sends it to every sale that the query finds, once somebody agrees; none that fails holds up the others. */
async function toMany(context: CliContext, flags: ManyFlags, { verb, done, of }: Many, send: Send): Promise<void> {
  await nameDefaultServer(context);
  await withSales(context, async (sales) => {
    const { json, dryRun, yes } = flags;
    const targets = await found(context, sales.client, flags, of);
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
      const question = `${verb.charAt(0).toUpperCase()}${verb.slice(1)} ${targets.length}?`;
      await confirm(context, question, "Nothing was changed.");
    }
    const counts = { done: 0, skipped: 0, failed: 0 };
    const summary = (): string => `${counts.done} ${done}, ${counts.skipped} skipped, ${counts.failed} failed`;
    let lastReportAtMs = Date.now();
    const tryNext = async ({ workflowId }: Target): Promise<Tried> => {
      const one = await tryOne(workflowId, () => send(sales, workflowId));
      counts[one.kind] += 1;
      if (Date.now() - lastReportAtMs >= PROGRESS_EVERY_MS) {
        lastReportAtMs = Date.now();
        printNote(context, `${summary()} of ${targets.length}`);
      }
      return one;
    };
    const tried = await inParallel(targets, CONCURRENCY, tryNext, context.signal);
    const ofKind = (kind: Tried["kind"]) =>
      tried.filter((one) => one.kind === kind).map(({ kind: _kind, ...rest }) => rest);
    const data = { [done]: ofKind("done"), skipped: ofKind("skipped"), failed: ofKind("failed") };
    const lines = tried.map((one) => `${one.workflowId}: ${resultText(one, done)}`);
    printResult(context, json, data, [...lines, summary()].join("\n"));
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

async function found(context: CliContext, client: Client, flags: ManyFlags, of: Many["of"]): Promise<Target[]> {
  const executions: WorkflowExecutionInfo[] = [];
  const query = visibilityQuery({ ...flags, openOnly: of === "open", ended: of === "ended" });
  try {
    for await (const execution of client.workflow.list({ query })) executions.push(execution);
  } catch (error) {
    const refused = grpcErrorsOf(error).find(({ code }) => code === GRPC.INVALID_ARGUMENT);
    if (!refused) throw error;
    const sent = `It was sent as: ${query}`;
    throw new UsageError(`Temporal does not understand the query: ${refused.details}. ${sent}`, { cause: error });
  }
  return (of === "ended" ? await endedAsRowsSay(context, client, executions) : executions).map(targetOf);
}

/** Of runs that ended: the last one of each sale that its row says nothing carries on. */
async function endedAsRowsSay(
  context: CliContext,
  client: Client,
  executions: readonly WorkflowExecutionInfo[],
): Promise<WorkflowExecutionInfo[]> {
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

function targetOf(execution: WorkflowExecutionInfo): Target {
  const { workflowId, status, closeTime } = execution;
  const attributes = attributesOf(execution);
  const closed = closedStatusOf(status.name);
  return {
    workflowId,
    number: attributes.get(SEARCH_ATTRIBUTES.invoice) ?? null,
    stage: attributes.get(SEARCH_ATTRIBUTES.stage) ?? null,
    attention: attributes.get(SEARCH_ATTRIBUTES.attention) ?? null,
    ended: closed && closeTime ? { status: closed, at: nairobiInstant(closeTime.getTime()) } : null,
  };
}

function targetLine({ workflowId, number, stage, attention, ended }: Target): string {
  const end = ended && `${ended.status} ${nairobiTime(Date.parse(ended.at))}`;
  // An id bounds and escapes what it is made of.
  const isNamedById = number === null || workflowId.endsWith(`/${number}`);
  return [isNamedById ? workflowId : `${number} (${workflowId})`, stage ?? "stage unknown", attention, end]
    .filter((part) => part !== null)
    .join(", ");
}

async function tryOne(workflowId: string, send: () => Promise<Reply>): Promise<Tried> {
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

function resultText(one: Tried, done: string): string {
  if (one.kind === "done") return `${done}: ${one.message}`;
  return one.kind === "skipped" ? `skipped: ${one.reason}` : `failed: ${one.error}`;
}
