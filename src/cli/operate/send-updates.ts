import { createInterface } from "node:readline/promises";
import type { Client, WorkflowExecutionInfo } from "@temporalio/client";

import { loadConfig, loadTemporalConnection } from "../../config/index.ts";
import {
  type JobReply,
  nairobiInstant,
  nairobiTime,
  type ResolvingUpdate,
  SEARCH_ATTRIBUTES,
} from "../../contract/index.ts";
import { attributesOf } from "../../starter/sale-key.ts";
import { closedStatusOf } from "../../starter/runs.ts";
import { GRPC, grpcErrorsOf } from "../../starter/errors.ts";
import { operations } from "../../starter/operate.ts";
import { stateOfSale } from "../../starter/state-of-sale.ts";
import { temporalAddress } from "../../worker/require-temporal.ts";
import { keepUnseenClosedRuns, nameOf, saleOfRun } from "../../worker/each-minute.ts";
import { CommandFailedError, describeError, UsageError } from "../cli-error.ts";
import { withTemporal } from "../connect-temporal.ts";
import type { CliContext } from "../context.ts";
import type { AnyJob } from "../jobs/job.ts";
import { printNote, printResult } from "../output.ts";
import { contradiction } from "../sale/attention-lines.ts";
import { isNotFound, orCommands, showCommand } from "../sale/command-lines.ts";
import { isUnsuccessful, outcomeLine } from "../sale/document-lines.ts";
import { createFollower } from "../sale/follow.ts";
import { inParallel } from "../sale/in-parallel.ts";
import type { ResultFlags, Scope } from "../sale/scope.ts";
import { ENDED, RUNNING, salesQuery } from "../sale/visibility-query.ts";
import { type Sales, withSales } from "../sale/with-sales.ts";
import { withLedger } from "../with-ledger.ts";
import { type Answer, type AnswerFlags, requestOf } from "./operating-commands.ts";

type Operate = Sales["operate"];

/** Sends an operator's answer to the sale that is named, or to all that `--query` finds. */
export async function answerSales(
  context: CliContext,
  answer: Answer,
  invoice: string | undefined,
  flags: AnswerFlags,
): Promise<void> {
  const { query, dryRun, yes, wait } = flags;
  if ((invoice === undefined) === (query === undefined))
    throw new UsageError("Give either the number of one sale, or --query for many.");
  if (query === undefined && (dryRun || yes)) throw new UsageError("--dry-run and --yes go with --query.");
  if (query !== undefined && wait !== undefined) throw new UsageError("--wait goes with one sale: leave --query out.");
  if (query !== undefined && !dryRun && !yes && !context.stdin.isTTY)
    throw new UsageError(
      "--query asks before it acts, and nobody is there to ask. Add --yes, or look first with --dry-run.",
    );
  const { update } = answer;
  const send =
    update === "restart"
      ? (operate: Operate, workflowId: string) => restart(operate, workflowId, flags.note ?? "")
      : sending(update, requestOf(update, flags));
  if (invoice === undefined) await toMany(context, answer, flags, send);
  else await toOne(context, answer, invoice, flags, send);
}

function sending(update: ResolvingUpdate, request: object) {
  return (operate: Operate, workflowId: string): Promise<JobReply> =>
    (operate[update] as (workflowId: string, request: object) => Promise<JobReply>)(workflowId, request);
}

async function restart(operate: Operate, workflowId: string, note: string): Promise<JobReply> {
  const reply = await operate.restart(workflowId, { note });
  const message =
    reply.result === "restarted"
      ? "the new run takes over what the run before did, and goes on with the rest. A rejected document is submitted again."
      : "somebody else has restarted it; nothing was started here.";
  return { ...reply, message };
}

type Send = (operate: Operate, workflowId: string) => Promise<JobReply>;

/** Prints what is true afterwards, and with `--wait` what came of it. */
async function toOne(
  context: CliContext,
  { update }: Answer,
  invoice: string,
  flags: AnswerFlags,
  send: Send,
): Promise<void> {
  await withSales(context, async (sales) => {
    const key = sales.keyOf(invoice, flags);
    const workflowId = sales.starter.workflowId(key);
    const movement = update === "resolveStock" ? requestOf(update, flags) : undefined;
    if (movement) {
      // The update says it better where there is no such sale.
      const state = await stateOfSale(sales.client, key).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
        return undefined;
      });
      const unknown = state?.attentions.filter(({ code }) => code === "stock-unknown") ?? [];
      const asked = unknown.find(({ subject }) => subject === movement.referenceId);
      const warning = asked && contradiction(asked, movement.applied);
      if (warning !== undefined) printNote(context, warning);
    }
    const reply = await send(sales.operate, workflowId).catch(orCommands({ ...flags, invoice }));
    if (flags.wait !== undefined) {
      const { message } = reply;
      const waited = sales.starter.outcome(key, { waitSeconds: flags.wait });
      const outcome = await createFollower(context, sales).beside(key, waited);
      printResult(context, flags.json, { message, outcome }, `${invoice}: ${message} ${outcomeLine(outcome)}`);
      if (isUnsuccessful(outcome)) throw new CommandFailedError("");
      return;
    }
    const message = !movement
      ? reply.message
      : reply.attention === undefined
        ? "Recorded: nothing is left for you to do."
        : `Recorded: an operator is still needed (${reply.attention}), see ${showCommand(invoice, flags)}.`;
    printResult(context, flags.json, { workflowId, ...reply, message }, `${invoice}: ${message}`);
    if (movement)
      printNote(
        context,
        movement.applied
          ? "The movement counts as made: it is not sent again."
          : "The movement is sent again under the same reference. If it had been booked after all, it is booked twice.",
      );
  });
}

/** Sends an operator's answer to a background job. */
export async function answerJob(
  context: CliContext,
  job: AnyJob,
  { update, flags }: { update: ResolvingUpdate; flags: Scope & ResultFlags },
): Promise<void> {
  const send = sending(update, requestOf(update, flags));
  const workflowId = job.workflowId(job.owner.of(loadConfig({ env: context.env }), flags));
  await withTemporal(context, async ({ client }) => {
    const reply = await send(operations(client), workflowId).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
      throw new CommandFailedError(
        `No ${job.noun} runs as ${workflowId}, so nothing waits for an operator. Check the connection, and the business or id; or start it: fiscalflow ${job.start}`,
      );
    });
    printResult(context, flags.json, { workflowId, ...reply }, `${workflowId}: ${reply.message}`);
  });
}

const CONCURRENCY = 10;
/** So many are shown before somebody is asked. */
const MOST_SHOWN = 20;

type Tried = { workflowId: string } & (
  | { kind: "done"; message: string }
  | { kind: "skipped"; reason: string }
  | { kind: "failed"; error: string }
);

/** Sends it to every sale that the query finds, once somebody agrees; none that fails holds up the others. */
async function toMany(
  context: CliContext,
  { update, done = "" }: Answer,
  flags: AnswerFlags,
  send: Send,
): Promise<void> {
  const { json, dryRun, yes } = flags;
  const temporal = loadTemporalConnection({ env: context.env });
  // Nobody should find out afterwards which server it was.
  if (!temporal.addressGiven)
    printNote(
      context,
      `Temporal: ${temporalAddress(temporal)}, namespace ${temporal.namespace} (TEMPORAL_ADDRESS is not set)`,
    );
  await withSales(context, async ({ client, operate }) => {
    const runs = await found(context, client, flags, update === "restart");
    const targets = runs.map(targetOf);
    if (dryRun) {
      const skips = update === "restart" || runs.length === 0 ? "" : " What does not wait for this is skipped.";
      const text = [...targets.map(targetLine), `${runs.length} found; nothing was changed.${skips}`].join("\n");
      printResult(context, json, { dryRun, found: targets }, text);
      return;
    }
    printNote(context, `${runs.length} found.`);
    if (!yes && runs.length > 0) {
      printNote(context, targets.slice(0, MOST_SHOWN).map(targetLine).join("\n"));
      if (runs.length > MOST_SHOWN) printNote(context, `and ${runs.length - MOST_SHOWN} more`);
      const question = `${update.charAt(0).toUpperCase()}${update.slice(1)} ${runs.length}?`;
      if (!(await isAgreed(context, question))) throw new CommandFailedError("Nothing was changed.");
    }
    const tried = await inParallel(
      runs,
      CONCURRENCY,
      ({ workflowId }) => tryOne(workflowId, () => send(operate, workflowId)),
      context.signal,
    );
    const ofKind = (kind: Tried["kind"]) =>
      tried.filter((one) => one.kind === kind).map(({ kind: _kind, ...rest }) => rest);
    const data = { [done]: ofKind("done"), skipped: ofKind("skipped"), failed: ofKind("failed") };
    const lines = tried.map((one) => {
      const said = one.kind === "done" ? one.message : one.kind === "skipped" ? one.reason : one.error;
      return `${one.workflowId}: ${one.kind === "done" ? done : one.kind}: ${said}`;
    });
    const counts = Object.entries(data).map(([name, { length }]) => `${length} ${name}`);
    printResult(context, json, data, [...lines, counts.join(", ")].join("\n"));
    if (data["failed"]?.length !== 0) throw new CommandFailedError("");
  });
}

/** Asks on the terminal. */
async function isAgreed({ stdin, stderr, signal }: CliContext, question: string): Promise<boolean> {
  const terminal = createInterface({ input: stdin, output: stderr as NodeJS.WritableStream });
  try {
    return /^y(es)?$/i.test((await terminal.question(`${question} [y/N] `, { signal })).trim());
  } finally {
    terminal.close();
  }
}

async function tryOne(workflowId: string, send: () => Promise<JobReply>): Promise<Tried> {
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

/** @throws UsageError where Temporal does not understand the query */
async function found(
  context: CliContext,
  client: Client,
  flags: AnswerFlags,
  hasEnded: boolean,
): Promise<WorkflowExecutionInfo[]> {
  const query = salesQuery(flags, `(${flags.query ?? ""})`, hasEnded ? ENDED : RUNNING);
  const runs = new Map<string, WorkflowExecutionInfo>();
  try {
    // Of the runs of a sale, the latest is listed first.
    for await (const run of client.workflow.list({ query }))
      if (!runs.has(run.workflowId)) runs.set(run.workflowId, run);
  } catch (error) {
    const refused = grpcErrorsOf(error).find(({ code }) => code === GRPC.INVALID_ARGUMENT);
    if (!refused) throw error;
    const sent = `It was sent as: ${query}`;
    throw new UsageError(`Temporal does not understand the query: ${refused.details}. ${sent}`, { cause: error });
  }
  return hasEnded ? await endedAsRowsSay(context, client, [...runs.values()]) : [...runs.values()];
}

/** Those of whose sale its row says that nothing carries it on. */
async function endedAsRowsSay(
  context: CliContext,
  client: Client,
  runs: readonly WorkflowExecutionInfo[],
): Promise<WorkflowExecutionInfo[]> {
  return await withLedger(
    context,
    async (ledger) => {
      await keepUnseenClosedRuns(client, ledger);
      const sales = runs.flatMap((run) => saleOfRun(run) ?? []);
      const ended = new Set((await ledger.documents.among(sales, "ended")).map(nameOf));
      return runs.filter((run) => {
        const sale = saleOfRun(run);
        return sale !== undefined && ended.has(nameOf(sale));
      });
    },
    { forMachines: true, mayBeEmpty: true },
  );
}

function targetOf(run: WorkflowExecutionInfo) {
  const { workflowId, status, closeTime } = run;
  const attributes = attributesOf(run);
  const closed = closedStatusOf(status.name);
  return {
    workflowId,
    number: attributes.get(SEARCH_ATTRIBUTES.invoice) ?? null,
    stage: attributes.get(SEARCH_ATTRIBUTES.stage) ?? null,
    /** What an operator is needed for, or was when it ended. */
    attention: attributes.get(SEARCH_ATTRIBUTES.attention) ?? null,
    /** How its workflow ended, and when; null of an open one. */
    ended: closed && closeTime ? { status: closed, at: nairobiInstant(closeTime.getTime()) } : null,
  };
}

export function targetLine({ workflowId, number, stage, attention, ended }: ReturnType<typeof targetOf>): string {
  const end = ended && `${ended.status} ${nairobiTime(Date.parse(ended.at))}`;
  // An id bounds and escapes what it is made of.
  const isNamedById = number === null || workflowId.endsWith(`/${number}`);
  const name = isNamedById ? workflowId : `${number} (${workflowId})`;
  return [name, stage ?? "stage unknown", attention, end].filter(Boolean).join(", ");
}
