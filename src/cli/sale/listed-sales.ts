import { type Client, isGrpcServiceError, type WorkflowExecutionInfo } from "@temporalio/client";

import {
  CLOSED_STATUSES,
  type ClosedStatus,
  creditNoteWorkflowId,
  DEFAULT_CONNECTION,
  documentWorthOf,
  restartedOf,
  type SaleContent,
  SEARCH_ATTRIBUTES,
  type Stage,
  STAGES,
  WORKFLOW_TYPES,
  waitsForOperator,
  nairobiInstant,
} from "../../contract/index.ts";
import { attributesOf } from "../../starter/attributes.ts";
import { closedStatusOf, endedAsCompleted, wasRefused } from "../../starter/closed-run.ts";
import { waitsForUnpause } from "../../starter/pending-calls.ts";
import { contentOfInput, inputOfRun } from "../../starter/input-of-run.ts";
import { askSales } from "./ask-sales.ts";
import { inParallel } from "./in-parallel.ts";
import { firstStarts, runsOf, withoutFollowed } from "./runs.ts";
import { typesClause } from "./visibility-query.ts";

export interface ListedSale {
  invoice: string;
  business: string | null;
  type: string;
  /** A closed sale that was refunded after its window reads `crediting` or `credited` too. */
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
  /** Of a credit note: the number of the sale that it reverses; null where Temporal has that sale no longer. */
  creditNoteOf: string | null;
  /** Name or PIN, as the sale was started with it; null where none was given. */
  buyer: string | null;
  /**
   * Σ(quantity × unit price) as the sale was started with, each line rounded to cents as its document states it, a
   * decimal text. Of an adopted sale that was started without lines the total of its document. Of a credit note that of
   * its sale, below zero. Null where nobody tells it.
   */
  amount: string | null;
  saleId: string | null;
  /** Its first run, where later ones carry it on after a reset or a restart. */
  startedAt: string;
  workflowId: string;
}

/** Runs that are looked at one by one, at a time. */
const CONCURRENCY = 20;
/** Of gRPC. */
const NOT_FOUND = 5;

/**
 * What a list of Temporal says of sales and credit notes. A run that ended without an outcome and was followed by
 * another is left out: that other one carries its sale on.
 * @param refused whether runs that failed because they were refused are listed
 */
export async function listedSales(
  executions: readonly WorkflowExecutionInfo[],
  client: Client,
  { refused }: { refused: boolean } = { refused: true },
): Promise<ListedSale[]> {
  const current = await withoutFollowed(executions, client);
  const notes = await creditNotesOf(current, client);
  const reversed = await reversedSales(current, client);
  const startedAt = await firstStarts(current, client);
  const ask = askSales(client);
  const rows = await inParallel(current, CONCURRENCY, async (execution) => {
    const isRefused = await wasRefused(client, execution);
    if (isRefused && !refused) return [];
    const { workflowId, startTime } = execution;
    const mayBeThrough = !isRefused && endedAsCompleted(execution);
    const reverses = reversed.get(workflowId);
    const told = reverses ?? execution;
    const sale = listed(execution, {
      note: notes.get(noteIdOf(execution) ?? ""),
      content: await contentOf(told, client),
      startedAtMs: startedAt.get(workflowId) ?? startTime.getTime(),
      reverses,
      noWorkLeft: mayBeThrough && (await ask.hasNoWorkLeft(execution)),
    });
    if (sale.amount === null && sale.saleId !== null && told.type === WORKFLOW_TYPES.sale)
      sale.amount = await ask.totalOf(told);
    if (reverses && sale.amount !== null && Number(sale.amount) > 0) sale.amount = `-${sale.amount}`;
    return [isRefused ? { ...sale, waitsFor: REFUSED } : sale];
  });
  return rows.flat();
}

/**
 * What a sale, or a correction's new sale, was started with: from the memo that our starter writes, else from the input
 * of the run, so that sales of other programs are listed alike.
 */
async function contentOf(execution: WorkflowExecutionInfo, client: Client): Promise<Partial<SaleContent> | undefined> {
  const kept = execution.memo?.["content"];
  if (kept !== undefined) return kept as Partial<SaleContent>;
  const { type } = execution;
  if (type !== WORKFLOW_TYPES.sale && type !== WORKFLOW_TYPES.correctSale) return undefined;
  const [input] = await inputOfRun(client, execution).catch((error: unknown) => {
    // A list still knows a run for a moment that Temporal has deleted.
    if (isGrpcServiceError(error) && error.code === NOT_FOUND) return [];
    throw error;
  });
  const sale = type === WORKFLOW_TYPES.sale ? input : (input as { sale?: unknown } | undefined)?.sale;
  return contentOfInput(sale);
}

interface ListedNote {
  number: string;
  stage: "crediting" | "credited";
  /** Its run ended without an outcome. */
  ended?: true;
}

/** By their workflow ids: of the sales that may have been refunded. */
async function creditNotesOf(
  executions: readonly WorkflowExecutionInfo[],
  client: Client,
): Promise<ReadonlyMap<string, ListedNote>> {
  const ids = executions.flatMap((execution) => noteIdOf(execution) ?? []);
  const notes = new Map<string, ListedNote>();
  const ended: WorkflowExecutionInfo[] = [];
  for await (const note of runsOf(client, ids, typesClause([WORKFLOW_TYPES.creditNote]))) {
    const stage = attributesOf(note).get(SEARCH_ATTRIBUTES.stage);
    const number = attributesOf(note).get(SEARCH_ATTRIBUTES.invoice) ?? "";
    if (stage === "credited") notes.set(note.workflowId, { number, stage });
    else if (note.status.name === "RUNNING" && !notes.has(note.workflowId))
      notes.set(note.workflowId, { number, stage: "crediting" });
    // The sale itself tells of one that it has started, within its window.
    else if (closedStatusOf(note.status.name) !== undefined && !note.parentExecution) ended.push(note);
  }
  const unfinished = (await withoutFollowed(ended, client)).filter(({ workflowId }) => !notes.has(workflowId));
  await inParallel(unfinished, CONCURRENCY, async (note) => {
    const number = attributesOf(note).get(SEARCH_ATTRIBUTES.invoice) ?? "";
    if (!(await wasRefused(client, note))) notes.set(note.workflowId, { number, stage: "crediting", ended: true });
  });
  return notes;
}

/** By the workflow ids of the credit notes among these: the newest run of the sale that each reverses. */
async function reversedSales(
  executions: readonly WorkflowExecutionInfo[],
  client: Client,
): Promise<ReadonlyMap<string, WorkflowExecutionInfo>> {
  const saleIds = executions
    .filter(({ type }) => type === WORKFLOW_TYPES.creditNote)
    .flatMap((note) => attributesOf(note).get(SEARCH_ATTRIBUTES.saleId) ?? []);
  const sales = new Map<string, WorkflowExecutionInfo>();
  for await (const sale of runsOf(client, saleIds, typesClause([WORKFLOW_TYPES.sale]), SEARCH_ATTRIBUTES.saleId)) {
    const noteId = ownNoteId(sale);
    if (noteId !== undefined && !sales.has(noteId)) sales.set(noteId, sale);
  }
  return sales;
}

const REFUNDABLE: readonly string[] = ["completed", "crediting", "credited"];

/** The workflow of its credit note, where the sale may have one. */
function noteIdOf(execution: WorkflowExecutionInfo): string | undefined {
  if (execution.type !== WORKFLOW_TYPES.sale) return undefined;
  const stage = attributesOf(execution).get(SEARCH_ATTRIBUTES.stage) ?? "";
  // An open sale that is completed waits for a refund in its own window, and would say so.
  const isOpen = execution.status.name === "RUNNING" && stage === "completed";
  return isOpen || !REFUNDABLE.includes(stage) ? undefined : ownNoteId(execution);
}

/** The workflow that every credit note of the sale has. */
function ownNoteId(execution: WorkflowExecutionInfo): string | undefined {
  const attributes = attributesOf(execution);
  const saleId = attributes.get(SEARCH_ATTRIBUTES.saleId);
  if (saleId === undefined) return undefined;
  const connection = execution.workflowId.split("/")[1] ?? DEFAULT_CONNECTION;
  return creditNoteWorkflowId({ connection, businessId: attributes.get(SEARCH_ATTRIBUTES.business), saleId });
}

interface Known {
  note: ListedNote | undefined;
  content: Partial<SaleContent> | undefined;
  startedAtMs: number;
  reverses: WorkflowExecutionInfo | undefined;
  /** Though its run ended without an outcome. */
  noWorkLeft: boolean;
}

function listed(
  execution: WorkflowExecutionInfo,
  { note, content, startedAtMs, reverses, noWorkLeft }: Known,
): ListedSale {
  const { workflowId, type } = execution;
  const attributes = attributesOf(execution);
  const stageText = attributes.get(SEARCH_ATTRIBUTES.stage);
  const stage = note?.stage ?? STAGES.find((one) => one === stageText) ?? null;
  const status = statusOf(execution);
  // The document's id is known again as soon as the run has found it.
  const isFound = attributes.has(SEARCH_ATTRIBUTES.saleId);
  const signedBefore = status === "running" && !isFound && restartedOf(execution.memo)?.signed === true;
  const attention = status === "running" ? (attributes.get(SEARCH_ATTRIBUTES.attention) ?? null) : null;
  return {
    invoice: attributes.get(SEARCH_ATTRIBUTES.invoice) ?? workflowId,
    business: attributes.get(SEARCH_ATTRIBUTES.business) ?? null,
    type,
    stage,
    signedBefore,
    status,
    attention,
    waitsFor:
      note?.ended && (status === "completed" || noWorkLeft)
        ? "a restart of its credit note"
        : (waitsForPaused(execution, attention) ??
          waitsFor({ stage, signedBefore, status: noWorkLeft ? "completed" : status, attention, type })),
    creditNote: note?.number ?? null,
    creditNoteOf: (reverses && attributesOf(reverses).get(SEARCH_ATTRIBUTES.invoice)) ?? null,
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
  credited: "its end",
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
  type,
}: Pick<ListedSale, "stage" | "signedBefore" | "status" | "attention" | "type">): string {
  if (attention !== null) return waitsForOperator(attention);
  if (signedBefore) return "its signed document";
  if (status in CLOSED_STATUSES) return "a restart";
  if (stage === "crediting" && type === WORKFLOW_TYPES.sale) return WAITS_FOR.crediting;
  return status === "completed" || stage === null ? "nothing" : WAITS_FOR[stage];
}
