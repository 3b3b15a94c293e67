import { setTimeout as sleep } from "node:timers/promises";
import {
  type Client,
  WorkflowFailedError,
  type WorkflowIdReusePolicy,
  WorkflowNotFoundError,
} from "@temporalio/client";

import type { Attention } from "../contract/attention.ts";
import {
  correctionFingerprint,
  type CorrectionInput,
  type CorrectionOutcome,
  type CorrectionProgress,
  type CorrectionState,
} from "../contract/correction.ts";
import { changed, differencesInWords } from "../contract/differences.ts";
import { differingFields, type SaleContent, saleContent } from "../contract/fingerprint.ts";
import { doubtsOf, type InputChecks, refundDoubtsOf } from "../contract/input-checks.ts";
import { correctionWorkflowId } from "../contract/ids.ts";
import { DEFAULT_CONNECTION, MAIN_TASK_QUEUE, STATE_QUERY, WORKFLOW_TYPES } from "../contract/names.ts";
import { correctionInputSchema } from "../contract/schema/correction-input.ts";
import { InvalidInputError, parseInput } from "../contract/schema/parse-input.ts";
import { aboutWorkflow } from "../contract/summary.ts";
import { answeredInTime } from "./answered-in-time.ts";
import { attributesOfSale } from "./attributes.ts";
import { LOOK_PAUSE_MS, REFUSED_WITHIN_MS, TEMPORAL_WITHIN_MS, within } from "./bound.ts";
import { NotAllowedError, SaleConflictError, SaleNotFoundError, workflowError } from "./errors.ts";
import { type Asked, queryOf, requestedCorrection } from "./no-answer.ts";
import type { SaleKey } from "./sale-key.ts";
import { startOnce } from "./start-once.ts";

/** Where a correction stands. */
export interface Correction extends CorrectionProgress {
  workflowId: string;
  /** In words: what happens next. */
  waitingFor: string;
  /** What it needs an operator for. What its credit note or its corrected sale needs one for is `heldUp`. */
  attentions: Attention[];
}

export type CheckedCorrection = Correction & {
  /** What looks wrong in the request, field by field; absent where nothing does. */
  warnings?: string[];
};

interface Memo {
  fingerprint: string;
  content: SaleContent;
  asked: Pick<CorrectionInput, "reason" | "creditNote" | "returnDate">;
}

export function correctionIdOf({ invoice, connection = DEFAULT_CONNECTION, businessId }: SaleKey): string {
  return correctionWorkflowId({ connection, businessId, traderInvoiceNumber: invoice });
}

/**
 * Starts the correction of a sale, or finds it, and waits for its end.
 * @throws InvalidInputError, SaleConflictError, SaleNotFoundError, NotAllowedError: nothing was done. SaleFailedError,
 * NoAnswerError
 */
export async function correctSale(
  client: Client,
  key: SaleKey,
  request: unknown,
  { waitMs, checks }: { waitMs: number; checks: InputChecks | undefined },
): Promise<CheckedCorrection> {
  const { invoice, connection, businessId } = key;
  const input = parseInput<CorrectionInput>(
    correctionInputSchema,
    {
      ...(connection !== undefined && { connection }),
      ...(businessId !== undefined && { businessId }),
      invoice,
      ...(typeof request === "object" ? request : { request }),
    },
    "correction",
  );
  const workflowId = correctionIdOf(key);
  await startOrFind(client, workflowId, input);
  const askedAtMs = Date.now();
  const warnings = checks
    ? [
        ...refundDoubtsOf(input, checks, askedAtMs),
        ...doubtsOf(input.sale, checks, askedAtMs).map((doubt) => `sale.${doubt}`),
      ]
    : [];
  const known = await seenThrough(client, workflowId, askedAtMs + waitMs);
  return { ...known, ...(warnings.length > 0 && { warnings }) };
}

/** How it stands at its end, once it needs an operator, or when the time is up. */
async function seenThrough(client: Client, workflowId: string, deadlineMs: number): Promise<Correction> {
  const refusedByMs = Date.now() + REFUSED_WITHIN_MS;
  for (;;) {
    const known = await look(client, workflowId, requestedCorrection(workflowId));
    const isPreparing = known.stage === "preparing" && known.attentions.length === 0;
    if (known.waitingFor === "nothing" || known.attentions.length > 0) return known;
    if (Date.now() >= (isPreparing ? Math.max(deadlineMs, refusedByMs) : deadlineMs)) return known;
    await sleep(LOOK_PAUSE_MS);
  }
}

/** @returns undefined where Temporal knows of no correction of that sale, or it was refused: then nothing was done */
export async function correctionOf(client: Client, key: SaleKey): Promise<Correction | undefined> {
  try {
    const workflowId = correctionIdOf(key);
    return await look(client, workflowId, queryOf(workflowId));
  } catch (error) {
    const refused = [WorkflowNotFoundError, SaleNotFoundError, NotAllowedError, SaleConflictError, InvalidInputError];
    if (refused.some((kind) => error instanceof kind)) return undefined;
    throw error;
  }
}

/** What is true now: the result of a closed workflow, for which no worker is needed, else what its state says. */
async function look(client: Client, workflowId: string, asked: Asked): Promise<Correction> {
  const handle = client.workflow.getHandle(workflowId);
  const { status } = await within(client, TEMPORAL_WITHIN_MS, () => handle.describe());
  if (status.name === "RUNNING") {
    const ask = (): Promise<CorrectionState> => handle.query<CorrectionState>(STATE_QUERY);
    const { progress, waitingFor, attentions } = await answeredInTime(client, asked, ask);
    return { ...progress, workflowId, waitingFor, attentions };
  }
  try {
    const outcome = (await handle.result()) as CorrectionOutcome;
    return { ...outcome, workflowId, waitingFor: "nothing", attentions: [] };
  } catch (error) {
    if (error instanceof WorkflowFailedError) throw workflowError(error.cause ?? error);
    throw error;
  }
}

/** @throws SaleConflictError where the sale is corrected otherwise */
async function startOrFind(client: Client, workflowId: string, input: CorrectionInput): Promise<void> {
  const { invoice, businessId, reason, creditNote, returnDate, sale } = input;
  const content = saleContent(sale, businessId);
  const asked = { reason, creditNote, ...(returnDate !== undefined && { returnDate }) };
  const memo: Memo = { fingerprint: correctionFingerprint(asked, content), content, asked };
  const start = (workflowIdReusePolicy: WorkflowIdReusePolicy) =>
    client.workflow.start(WORKFLOW_TYPES.correctSale, {
      workflowId,
      taskQueue: MAIN_TASK_QUEUE,
      args: [input],
      workflowIdReusePolicy,
      workflowIdConflictPolicy: "FAIL",
      memo: { ...memo },
      typedSearchAttributes: attributesOfSale({ invoice, businessId }, "preparing"),
      ...aboutWorkflow(
        WORKFLOW_TYPES.correctSale,
        input,
        `of ${invoice} by ${sale.traderInvoiceNumber}, credit note ${creditNote}`,
      ),
    });
  await startOnce(start, "ALLOW_DUPLICATE_FAILED_ONLY", () => isFreeAgain(client, workflowId, invoice, memo));
}

/**
 * Whether the known correction leaves its sale to this one: nothing was credited, or a corrected sale was given up and
 * this is another one. What went otherwise, the ledger tells.
 */
async function isFreeAgain(client: Client, workflowId: string, invoice: string, asked: Memo): Promise<boolean> {
  const handle = client.workflow.getHandle(workflowId);
  const { memo, status } = await handle.describe();
  const known = memo as Partial<Memo> | undefined;
  // Started without the starter: it is compared in the ledger.
  const isSame = known?.fingerprint === undefined || known.fingerprint === asked.fingerprint;
  if (status.name === "COMPLETED") {
    const { stage } = (await handle.result()) as CorrectionOutcome;
    if (stage === "cancelled" || (stage === "credited" && !isSame)) return true;
  }
  if (isSame) return false;
  const { fields, words } = differences(known ?? {}, asked);
  throw new SaleConflictError(
    `The sale ${invoice} is corrected otherwise. What differs: ${words.join("; ")} (${workflowId}). Nothing was started.`,
    fields,
  );
}

const ASKED = { reason: "the reason", creditNote: "the credit note's number", returnDate: "the return date" } as const;

function differences(known: Partial<Memo>, asked: Memo): { fields: string[]; words: string[] } {
  const of = ({ reason, creditNote, returnDate }: Partial<Memo["asked"]> = {}) => ({ reason, creditNote, returnDate });
  const [was, is] = [of(known.asked), of(asked.asked)];
  const fields = (["reason", "creditNote", "returnDate"] as const).filter((field) => was[field] !== is[field]);
  const { content } = known;
  const ofSale = content ? differingFields(content, asked.content).map((field) => `sale.${field}`) : [];
  const inWords = content ? differencesInWords(content, asked.content) : [];
  return {
    fields: [...fields, ...ofSale],
    words: [
      ...fields.map((field) => changed(ASKED[field], was[field], is[field])),
      ...inWords.map((words) => `of the corrected sale ${words}`),
    ],
  };
}
