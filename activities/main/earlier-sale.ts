import { Context } from "@temporalio/activity";
import { ApplicationFailure } from "@temporalio/common";

import {
  asAnswered,
  bounded,
  type ConnectionProfile,
  differingFields,
  FAILURES,
  type FinishedSale,
  type SaleContent,
} from "../../src/contract/index.ts";
import type { KeptSale, Ledger } from "../../src/ledger/index.ts";
import { lookedUpInTime } from "./looked-up-in-time.ts";

/**
 * Looks whether the number was used before. Gives how that sale ended, where it is the same and nothing is left to be done.
 * @throws ApplicationFailure Conflict, where the number belongs to a sale with other content
 */
export type EarlierSale = (profile: ConnectionProfile, content: SaleContent) => Promise<FinishedSale | undefined>;

export function createEarlierSale(ledger: Pick<Ledger, "records">): EarlierSale {
  return async ({ connection, businessId }, content) => {
    const number = content.traderInvoiceNumber;
    const kept = await lookedUpInTime((ms) => ledger.records.findSale({ connection, businessId }, number, ms));
    // What this very run has kept comes from an attempt that was lost.
    if (!kept || kept.writer.runId === Context.current().info.workflowExecution?.runId) return undefined;
    const { record } = kept;
    if (!record.document && !record.numberTaken) return undefined;
    const fields = record.content ? differingFields(record.content, content) : [];
    if (fields.length > 0) throw conflict(number, fields, kept);
    return isFinished(record) ? finishedOf(kept) : undefined;
  };
}

/** What is not, the run takes over by the claims: an earlier one was terminated on its way. */
function isFinished({ stage, document, attentions, movements, incomplete }: KeptSale["record"]): boolean {
  const ended = stage === "completed" || stage === "credited" || stage === "cancelled";
  return (
    !incomplete &&
    !document?.linesLeftOut &&
    ended &&
    attentions.length === 0 &&
    movements.every(({ state }) => state === "applied" || state === "dropped")
  );
}

function finishedOf({ record, creditNote }: KeptSale): FinishedSale {
  const { stage, refund } = record;
  const { movements, inAll } = bounded({ movements: record.movements, attentions: [], decisions: [] });
  const finished = { stage, document: asAnswered(record.document), movements, ...(inAll && { inAll }) };
  const note = creditNote?.record.document;
  if (note?.status !== "completed") return { ...finished, creditNote: null, refund };
  return { ...finished, creditNote: asAnswered(note), refund: refund ?? creditNote?.record.refund };
}

function conflict(number: string, fields: readonly string[], { record, writer }: KeptSale): ApplicationFailure {
  const was = record.document
    ? `the document ${record.document.id} is ${record.document.status}`
    : `stage ${record.stage}`;
  return ApplicationFailure.nonRetryable(
    `The number ${number} belongs to another sale: they differ in ${fields.join(", ")} (in the ledger: ${was}, kept by ${writer.workflowId}, run ${writer.runId}). Nothing was sent. Use another number, or start it with the content that it has.`,
    FAILURES.conflict,
  );
}
