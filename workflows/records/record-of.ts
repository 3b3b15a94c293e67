import {
  type CreditNoteInput,
  type DocumentRecord,
  type PreparedCreditNote,
  type PreparedSale,
  type SaleContent,
  saleContent,
  type SaleInput,
  type StockMovement,
} from "../../src/contract/index.ts";
import type { Run } from "../sale/state.ts";

/** What a record says of the wish, and does not change while the run lasts. */
export type Asked = Pick<DocumentRecord, "date" | "content" | "originalSaleId">;

export function askedOfSale(input: SaleInput, { sale, profile }: PreparedSale): Asked {
  // As the starter fingerprints it: a date that was filled in later is no part of it.
  const content: SaleContent = { ...saleContent(sale, profile.businessId), saleDate: input.saleDate ?? null };
  return { date: sale.saleDate, content };
}

export function askedOfCreditNote({ note }: PreparedCreditNote): Asked {
  const { returnDate, saleId }: Pick<CreditNoteInput, "saleId"> & { returnDate: string } = note;
  return { date: returnDate, originalSaleId: saleId };
}

/** @param movements the run's, unless they are to be told otherwise */
export function recordOf(
  run: Run,
  asked: Asked,
  sequence: number,
  startedAtMs: number,
  movements: readonly StockMovement[] = run.movements,
): DocumentRecord {
  return {
    type: run.workflow === "sale" ? "sale" : "credit_note",
    number: run.invoice,
    asOfMs: Date.now(),
    sequence,
    stage: run.stage,
    startedAtMs,
    ...(run.failure && { failed: true }),
    numberTaken: run.numberTaken,
    ...asked,
    ...(run.fingerprint !== undefined && { fingerprint: run.fingerprint }),
    document: run.document,
    ...(run.refund && { refund: run.refund }),
    // What a sale took is kept with the sale, also where its credit note had to ask about it.
    movements: movements.filter(({ purpose }) => run.workflow === "sale" || purpose !== "sold"),
    attentions: run.attentions,
    attentionChanges: run.attentionChanges,
    decisions: run.decisions,
  };
}

/**
 * Changes with whatever is worth another record. A movement that is being sent, and a step on the way to a document, is not: they pass.
 * Undefined while there is nothing that would have to be kept.
 */
export function worthKeeping(run: Run, movements: readonly StockMovement[] = run.movements): string | undefined {
  const { document, decisions, attentionChangesEver } = run;
  const ended = LASTING_STAGES.includes(run.stage);
  if (!document && attentionChangesEver === 0 && decisions.length === 0 && !ended) return undefined;
  return JSON.stringify([
    run.failure !== undefined,
    ended ? run.stage : "",
    document && [document.id, document.status, document.receipt?.cuInvoiceNo],
    movements.filter(({ state }) => state !== "planned" && state !== "sending").map(fateOf),
    attentionChangesEver,
    decisions.length,
  ]);
}

const LASTING_STAGES: readonly string[] = ["rejected", "completed", "credited", "cancelled"];

function fateOf({ referenceId, state, decision }: StockMovement): unknown[] {
  return [referenceId, state, decision?.atMs];
}
