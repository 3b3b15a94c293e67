import type { Client, WorkflowExecutionInfo } from "@temporalio/client";

import { loadConfig, loadTemporalConnection } from "../../config/index.ts";
import {
  type JobReply,
  nairobiInstant,
  nairobiTime,
  type ResolvingUpdate,
  SEARCH_ATTRIBUTES,
} from "../../contract/index.ts";
import { SaleNotFoundError } from "../../starter/errors.ts";
import { operations } from "../../starter/operate.ts";
import { closedStatusOf } from "../../starter/runs.ts";
import { attributesOf } from "../../starter/sale-key.ts";
import { keepUnseenClosedRuns, textKeyOf, saleOfRun } from "../../worker/each-minute.ts";
import { temporalAddress } from "../../worker/require-temporal.ts";
import { withTemporal } from "../connect-temporal.ts";
import { type CliContext, CommandFailedError, describeError, inParallel, UsageError } from "../context.ts";
import type { AnyJob } from "../jobs/jobs.ts";
import type { ResultFlags, Scope } from "../options.ts";
import { printNote, printResult } from "../output.ts";
import { ENDED, runsOfQuery, RUNNING, salesQuery } from "../sale/visibility-query.ts";
import { type Sales, withSales } from "../sale/with-sales.ts";
import { withLedger } from "../with-ledger.ts";
import { type AnswerFlags, requestOf } from "./operating-commands.ts";

type Operate = Sales["operate"];

/** Sends an operator's answer to the sale that is named, or to all that `--query` finds. */
export async function answerSales(
  context: CliContext,
  update: ResolvingUpdate | "restart",
  invoice: string | undefined,
  flags: AnswerFlags,
): Promise<void> {
  if ((invoice === undefined) === (flags.query === undefined))
    throw new UsageError("Give either the number of one sale, or --query for many.");
  const send =
    update === "restart"
      ? (operate: Operate, workflowId: string) => restart(operate, workflowId, flags.note ?? "")
      : sending(update, requestOf(update, flags));
  if (invoice === undefined) return await toMany(context, flags, send, update === "restart");
  await withSales(context, async ({ starter, operate, keyOf }) => {
    const workflowId = starter.workflowId(keyOf(invoice, flags));
    const reply = await send(operate, workflowId);
    printResult(context, flags.json, { workflowId, ...reply }, `${invoice}: ${reply.message}`);
  });
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

export async function answerJob(
  context: CliContext,
  job: AnyJob,
  { update, flags }: { update: ResolvingUpdate; flags: Scope & ResultFlags },
): Promise<void> {
  const send = sending(update, requestOf(update, flags));
  const workflowId = job.workflowId(job.owner.of(loadConfig({ env: context.env }), flags));
  await withTemporal(context, async ({ client }) => {
    const reply = await send(operations(client), workflowId).catch((error: unknown) => {
      if (!(error instanceof SaleNotFoundError)) throw error;
      throw new CommandFailedError(
        `No ${job.noun} runs as ${workflowId}, so nothing waits for an operator. Check the connection, and the business or id; or start it: fiscalflow ${job.start}`,
      );
    });
    printResult(context, flags.json, { workflowId, ...reply }, `${workflowId}: ${reply.message}`);
  });
}

const CONCURRENCY = 10;

interface Tried {
  workflowId: string;
  /** `skipped`: it does not wait for this, or is closed since it was found. */
  kind: "done" | "skipped" | "failed";
  message: string;
}

/** Lists every sale that the query finds, or with `--yes` sends it to each; none that fails holds up the others. */
async function toMany(context: CliContext, flags: AnswerFlags, send: Send, hasEnded: boolean): Promise<void> {
  const temporal = loadTemporalConnection({ env: context.env });
  // Nobody should find out afterwards which server it was.
  if (!temporal.addressGiven)
    printNote(
      context,
      `Temporal: ${temporalAddress(temporal)}, namespace ${temporal.namespace} (TEMPORAL_ADDRESS is not set)`,
    );
  await withSales(context, async ({ client, operate }) => {
    const runs = await found(context, client, flags, hasEnded);
    if (!flags.yes) {
      const targets = runs.map(targetOf);
      const text = [...targets.map(targetLine), `${runs.length} found; nothing was changed: add --yes to do it.`];
      printResult(context, flags.json, { found: targets }, text.join("\n"));
      return;
    }
    const tried = await inParallel(
      runs,
      CONCURRENCY,
      ({ workflowId }) => tryOne(workflowId, () => send(operate, workflowId)),
      context.signal,
    );
    const ofKind = (kind: Tried["kind"]) =>
      tried.filter((one) => one.kind === kind).map(({ kind: _kind, ...rest }) => rest);
    const data = { done: ofKind("done"), skipped: ofKind("skipped"), failed: ofKind("failed") };
    const lines = tried.map(({ workflowId, kind, message }) => `${workflowId}: ${kind}: ${message}`);
    const counts = Object.entries(data).map(([name, { length }]) => `${length} ${name}`);
    printResult(context, flags.json, data, [...lines, counts.join(", ")].join("\n"));
    if (data.failed.length > 0) throw new CommandFailedError("");
  });
}

async function tryOne(workflowId: string, send: () => Promise<JobReply>): Promise<Tried> {
  try {
    return { kind: "done", workflowId, message: (await send()).message };
  } catch (error) {
    const { message } = describeError(error);
    const isSkipped = error instanceof Error && ["NotAllowedError", "SaleNotFoundError"].includes(error.name);
    return { kind: isSkipped ? "skipped" : "failed", workflowId, message };
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
  // Of the runs of a sale, the latest is listed first. One that was refused at once names no sale: an earlier one may.
  for await (const run of runsOfQuery(client, query)) {
    const later = runs.get(run.workflowId);
    if (!later || !saleOfRun(later)) runs.set(run.workflowId, run);
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
      const ended = new Set((await ledger.documents.among(sales, "ended")).map(textKeyOf));
      return runs.filter((run) => {
        const sale = saleOfRun(run);
        return sale !== undefined && ended.has(textKeyOf(sale));
      });
    },
    { quiet: true, mayBeEmpty: true },
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
