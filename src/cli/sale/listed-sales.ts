import { type Client, isGrpcServiceError, type WorkflowExecutionInfo } from "@temporalio/client";

import {
  CLOSED_STATUSES,
  type ClosedStatus,
  documentWorthOf,
  restartedOf,
  type SaleContent,
  SEARCH_ATTRIBUTES,
  type Stage,
  STAGES,
  waitsForOperator,
  nairobiInstant,
} from "../../contract/index.ts";
import { attributesOf } from "../../starter/attributes.ts";
import { closedStatusOf, endedAsCompleted, wasRefused } from "../../starter/closed-run.ts";
import { waitsForUnpause } from "../../starter/pending-calls.ts";
import { contentOfInput, inputOfRun } from "../../starter/input-of-run.ts";
import { askSales } from "./ask-sales.ts";
import { inParallel } from "./in-parallel.ts";
import { firstStarts, isNewest, runsById, withoutFollowed } from "./runs.ts";

export interface ListedSale {
  invoice: string;
  business: string | null;
  stage: Stage | null;
  /** Its document is signed, as the run before a restart knew, and this run is still to find it. */
  signedBefore: boolean;
  /** Of its workflow. `completed`: it is closed, and nothing is left to be done. */
  status: "running" | "completed" | ClosedStatus;
  /** What an operator is needed for; null where nobody is, and where no operator's update arrives any more. */
  attention: string | null;
  /** In words. */
  waitsFor: string;
  /** The number of the credit note that reverses it, or is about to. */
  creditNote: string | null;
  /** Name or PIN, as the sale was started with it; null where none was given. */
  buyer: string | null;
  /**
   * Σ(quantity × unit price) as the sale was started with, each line rounded to cents as its document states it, a
   * decimal text. Of one that was started without lines the total of its document. Null where nobody tells it.
   */
  amount: string | null;
  saleId: string | null;
  /** Its first run, where later ones carry it on after a reset, a restart or a late refund. */
  startedAt: string;
  workflowId: string;
}

/** Runs that are looked at one by one, at a time. */
const CONCURRENCY = 20;
/** Of gRPC. */
const NOT_FOUND = 5;

/**
 * What a list of Temporal says of sales. A run that was followed by another is left out: that other one carries its sale
 * on.
 * @param refused whether runs that failed because they were refused are listed
 */
export async function listedSales(
  executions: readonly WorkflowExecutionInfo[],
  client: Client,
  { refused }: { refused: boolean } = { refused: true },
): Promise<ListedSale[]> {
  const last = await withoutFollowed(executions, client);
  const runs = await runsById(last, client);
  // A query for a stage finds the run that completed, and not the one that was refunded later.
  const current = last.filter((run) => isNewest(run, runs));
  const startedAt = await firstStarts(current, runs, client);
  const ask = askSales(client);
  const rows = await inParallel(current, CONCURRENCY, async (execution) => {
    const isRefused = await wasRefused(client, execution);
    if (isRefused && !refused) return [];
    const { workflowId, startTime } = execution;
    const mayBeThrough = !isRefused && endedAsCompleted(execution);
    const sale = listed(execution, {
      content: await contentOf(execution, client),
      startedAtMs: startedAt.get(workflowId) ?? startTime.getTime(),
      noWorkLeft: mayBeThrough && (await ask.hasNoWorkLeft(execution)),
    });
    if (sale.amount === null && sale.saleId !== null) sale.amount = await ask.totalOf(execution);
    return [isRefused ? { ...sale, waitsFor: REFUSED } : sale];
  });
  return rows.flat();
}

/**
 * What a sale was started with: from the memo that our starter writes, else from the input of the run, so that sales of
 * other programs are listed alike.
 */
async function contentOf(execution: WorkflowExecutionInfo, client: Client): Promise<Partial<SaleContent> | undefined> {
  const kept = execution.memo?.["content"];
  if (kept !== undefined) return kept as Partial<SaleContent>;
  const [input] = await inputOfRun(client, execution).catch((error: unknown) => {
    // A list still knows a run for a moment that Temporal has deleted.
    if (isGrpcServiceError(error) && error.code === NOT_FOUND) return [];
    throw error;
  });
  return contentOfInput(input);
}

interface Known {
  content: Partial<SaleContent> | undefined;
  startedAtMs: number;
  /** Though its run ended without an outcome. */
  noWorkLeft: boolean;
}

function listed(execution: WorkflowExecutionInfo, { content, startedAtMs, noWorkLeft }: Known): ListedSale {
  const { workflowId } = execution;
  const attributes = attributesOf(execution);
  const stageText = attributes.get(SEARCH_ATTRIBUTES.stage);
  const stage = STAGES.find((one) => one === stageText) ?? null;
  const status = statusOf(execution);
  // One that was given up keeps its number.
  const isRefunded = stage === "crediting" || stage === "credited";
  // The document's id is known again as soon as the run has found it.
  const isFound = attributes.has(SEARCH_ATTRIBUTES.saleId);
  const signedBefore = status === "running" && !isFound && restartedOf(execution.memo)?.signed === true;
  const attention = status === "running" ? (attributes.get(SEARCH_ATTRIBUTES.attention) ?? null) : null;
  return {
    invoice: attributes.get(SEARCH_ATTRIBUTES.invoice) ?? workflowId,
    business: attributes.get(SEARCH_ATTRIBUTES.business) ?? null,
    stage,
    signedBefore,
    status,
    attention,
    waitsFor:
      waitsForPaused(execution, attention) ??
      waitsFor({ stage, signedBefore, status: noWorkLeft ? "completed" : status, attention }),
    creditNote: isRefunded ? (attributes.get(SEARCH_ATTRIBUTES.creditNote) ?? null) : null,
    buyer: content?.customer?.name ?? content?.customer?.pin ?? null,
    amount: content?.lines && content.lines.length > 0 ? documentWorthOf(content.lines) : null,
    saleId: attributes.get(SEARCH_ATTRIBUTES.saleId) ?? null,
    startedAt: nairobiInstant(startedAtMs),
    workflowId,
  };
}

function statusOf(execution: WorkflowExecutionInfo): ListedSale["status"] {
  return closedStatusOf(execution.status.name) ?? (execution.status.name === "COMPLETED" ? "completed" : "running");
}

const REFUSED = "nothing: it was refused, and its caller told why";

const WAITS_FOR: Readonly<Record<Stage, string>> = {
  "resolving-items": "its items",
  registering: "the registration of its items",
  submitting: "the API",
  "adjusting-stock": "the tax authority, and its stock movements",
  "awaiting-authority": "the tax authority",
  rejected: "its resubmission",
  completed: "a refund, until its window closes",
  crediting: "its credit note",
  credited: "its end, or the corrected sale",
  cancelled: "its end",
};

/** Temporal's server keeps in this search attribute which types of a run's activities somebody has paused. */
const PAUSED_TYPE = /property:activityType=([^,]+)/g;

function waitsForPaused(execution: WorkflowExecutionInfo, attention: string | null): string | undefined {
  const info = attributesOf(execution).get("TemporalPauseInfo");
  if (info === undefined || attention !== null || execution.status.name !== "RUNNING") return undefined;
  const types = [...info.matchAll(PAUSED_TYPE)].flatMap(([, type]) => type ?? []);
  return types.length === 0 ? undefined : waitsForUnpause(types);
}

function waitsFor({
  stage,
  signedBefore,
  status,
  attention,
}: Pick<ListedSale, "stage" | "signedBefore" | "status" | "attention">): string {
  if (attention !== null) return waitsForOperator(attention);
  if (signedBefore) return "its signed document";
  if (status in CLOSED_STATUSES) return "a restart";
  return status === "completed" || stage === null ? "nothing" : WAITS_FOR[stage];
}
