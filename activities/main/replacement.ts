import { createHash } from "node:crypto";
import { type WorkflowClient, WorkflowNotFoundError } from "@temporalio/client";

import {
  type AwaitReplacementRequest,
  type CallTarget,
  type CorrectedSaleInput,
  doubtsOf,
  fingerprintOf,
  holdsUpDocument,
  isRefusedStatus,
  type MainActivities,
  type Refund,
  saleContent,
  saleOfContent,
  saleWorkflowId,
  type SeenReplacement,
} from "../../src/contract/index.ts";
import { correctedSaleSchema } from "../../src/contract/schema/sale.ts";
import { InvalidInputError, parseInput } from "../../src/contract/schema/parse-input.ts";
import type { KeptSale, NumberHolder } from "../../src/ledger/index.ts";
import { ageMs, pollPauseMs, stillWaiting } from "../failure.ts";
import { currentWriter, scheduledAtMs } from "../classified-call.ts";
import type { ActivityContext } from "../compliance/calls.ts";
import { rowOf } from "./prepare.ts";

/** Nothing but Temporal and the database is asked, and a cashier may wait at the till. */
const LOOKS = { firstPollMs: 300, longestPollMs: 60_000, longestPollAfterDayMs: 600_000 };

const NOT_KEPT = "The ledger does not know it any more. Ask for the correction again, with the corrected sale.";

interface ReplacementContext extends ActivityContext {
  workflows: WorkflowClient;
}

/** The corrected sale, from the side of the sale that it replaces. */
export function createReplacementActivities(context: ReplacementContext) {
  const { connections, ledger, random } = context;
  return {
    async reserveReplacement({ connection, businessId, invoice, refund }) {
      const askedAtMs = scheduledAtMs();
      const kept = refund.replaceWith ? undefined : await keptSale(ledger, { connection, businessId }, refund);
      if (!refund.replaceWith && !kept) return { kind: "refused", message: NOT_KEPT };
      let sale: CorrectedSaleInput;
      try {
        sale = parseInput(correctedSaleSchema, refund.replaceWith ?? kept, "corrected sale");
        requireOf(sale, { connection, businessId });
      } catch (error) {
        if (!(error instanceof InvalidInputError)) throw error;
        return { kind: "refused", message: error.message };
      }
      const checks = connections.get(connection)?.inputChecks;
      const doubts = checks === "refuse" ? doubtsOf(sale, checks, askedAtMs) : [];
      const content = saleContent(sale, businessId);
      const fingerprint = fingerprintOf(content);
      // Nothing can stand against it any more: its credit note is on its way, or signed.
      const isUnderWay = await isNoteUnderWay(ledger, { connection, businessId }, { invoice, refund, fingerprint });
      if (doubts.length > 0 && !isUnderWay)
        return { kind: "refused", message: new InvalidInputError("corrected sale", doubts).message };
      const { traderInvoiceNumber: number, branch } = sale;
      const row = { ...rowOf({ sale, content, fingerprint }, askedAtMs), replaces: invoice };
      const opening = { writer: currentWriter(), askedAtMs };
      const holder = await ledger.documents.reserve({ connection, businessId }, row, opening);
      if (holder && !isUnderWay) return { kind: "refused", message: takenInWords(number, fingerprint, holder) };
      return {
        kind: "reserved",
        branch,
        ...(kept && { lines: sale.lines }),
        ...(isUnderWay && { isUnderWay: true as const }),
      };
    },

    async awaitReplacement(request) {
      const seen = await look(context, request);
      const mark = createHash("sha256").update(JSON.stringify(seen)).digest("hex").slice(0, 16);
      if (mark !== request.unlike) return { seen, mark };
      const pauseMs = pollPauseMs(ageMs(request.sinceMs), LOOKS, random);
      throw stillWaiting(`The corrected sale ${request.traderInvoiceNumber} is not signed yet.`, pauseMs);
    },
  } satisfies Partial<MainActivities>;
}

/** Whether the credit note of this very correction was sent, and was not refused. */
async function isNoteUnderWay(
  { documents }: ActivityContext["ledger"],
  target: CallTarget,
  { invoice, refund, fingerprint }: { invoice: string; refund: Refund; fingerprint: string },
): Promise<boolean> {
  const note = (await documents.findSale(target, invoice))?.creditNote;
  if (!note?.isSent || note.record.number !== refund.traderInvoiceNumber) return false;
  const { document, refund: known } = note.record;
  return !isRefusedStatus(document?.status) && known?.replacedBy?.fingerprint === fingerprint;
}

/** The corrected sale as an earlier run has reserved it; undefined if it did not come to that. */
async function keptSale(
  { documents }: ActivityContext["ledger"],
  target: CallTarget,
  { replacedBy }: Refund,
): Promise<object | undefined> {
  const kept = replacedBy && (await documents.findSale(target, replacedBy.traderInvoiceNumber));
  const { content, options, expectedTotal, fingerprint } = kept?.record ?? {};
  if (!content || fingerprint !== replacedBy?.fingerprint) return undefined;
  return { ...saleOfContent(content), ...options, expectedTotal };
}

/** @throws InvalidInputError */
function requireOf(sale: CorrectedSaleInput, { connection, businessId }: CallTarget): void {
  const problems = (["connection", "businessId"] as const).flatMap((field) => {
    const wanted = { connection, businessId }[field];
    const isOther = sale[field] !== undefined && sale[field] !== wanted;
    return isOther ? [`${field}: expected ${wanted ?? "none"}, as of the sale that it replaces`] : [];
  });
  if (problems.length > 0) throw new InvalidInputError("corrected sale", problems);
}

function takenInWords(
  number: string,
  fingerprint: string,
  { stage, fingerprint: known, replaces }: NumberHolder,
): string {
  if (known !== fingerprint) return `The number ${number} belongs to another sale. Use another number.`;
  if (stage === "cancelled" || stage === "credited" || stage === "crediting")
    return `The sale ${number} is ${stage === "cancelled" ? "cancelled" : "credited"} already. Use another number.`;
  if (replaces !== undefined) return `The sale ${number} corrects another sale, ${replaces}. Use another number.`;
  return `The sale ${number} is sold already. Use another number; or, if it is the corrected sale, refund the wrong one.`;
}

/** The row says what its answers and its run have told; Temporal alone knows of a run that stopped a moment ago. */
async function look(
  { workflows, ledger }: ReplacementContext,
  { connection, businessId, traderInvoiceNumber: number, fingerprint }: AwaitReplacementRequest,
): Promise<SeenReplacement> {
  const find = () => ledger.documents.findSale({ connection, businessId }, number);
  const workflowId = saleWorkflowId({ connection, businessId, traderInvoiceNumber: number });
  const row = await find();
  const known = fromRow(row, workflowId, fingerprint);
  if (known.kind === "signed") return known;
  const run = await workflows
    .getHandle(workflowId)
    .describe()
    .catch((error: unknown) => {
      if (error instanceof WorkflowNotFoundError) return undefined;
      throw error;
    });
  const status = run?.status.name;
  // One that has just begun has still to open its row.
  const isNew = status === "RUNNING" && run?.runId !== row?.writer.runId;
  if (known.kind !== "open") return isNew ? { kind: "open" } : known;
  if (status === "RUNNING") return known;
  // It may have come to its end since the row was read.
  const kept = await find();
  const last = fromRow(kept, workflowId, fingerprint);
  if (last.kind !== "open") return last;
  const how = status === undefined ? "is not known to Temporal any more" : `has stopped (${status.toLowerCase()})`;
  const begun = kept?.writer.workflowId === workflowId;
  return { kind: "stopped", message: `its workflow ${how}.`, retryable: true, begun };
}

function fromRow(kept: KeptSale | undefined, workflowId: string, fingerprint: string): SeenReplacement {
  const stopped = (message: string, retryable: boolean): SeenReplacement => {
    return { kind: "stopped", message, retryable, begun: kept?.writer.workflowId === workflowId };
  };
  if (!kept) return stopped("the ledger does not know it any more.", false);
  const { stage, document, attentions, movements, numberTaken, fingerprint: known } = kept.record;
  if (known !== fingerprint) return stopped("the number belongs to a sale with other content.", false);
  if (stage === "completed" || stage === "crediting" || stage === "credited")
    return { kind: "signed", receipt: document?.receipt ?? null };
  if (stage === "cancelled") return stopped("it was cancelled.", !numberTaken && document === null);
  const heldUp = attentions.find((one) => holdsUpDocument(one, movements))?.code;
  return { kind: "open", ...(heldUp !== undefined && { heldUp }) };
}
