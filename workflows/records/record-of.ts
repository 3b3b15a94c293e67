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

/** What a run will say once the answer that it waits for is there. */
export type AsItWillBe = Partial<Pick<Run, "document" | "stage">> & { movements?: readonly StockMovement[] };

/** @param as in place of what the run says now */
export function recordOf(
  run: Run,
  asked: Asked,
  sequence: number,
  startedAtMs: number,
  { document = run.document, movements = run.movements, stage = run.stage }: AsItWillBe = {},
): DocumentRecord {
  return {
    type: run.workflow === "sale" ? "sale" : "credit_note",
    number: run.invoice,
    asOfMs: Date.now(),
    sequence,
    stage,
    startedAtMs,
    ...(run.failure && { failed: true }),
    numberTaken: run.numberTaken,
    ...asked,
    ...(run.fingerprint !== undefined && { fingerprint: run.fingerprint }),
    document,
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
 * @param as in place of what the run says now
 */
export function worthKeeping(run: Run, as: AsItWillBe = {}): string | undefined {
  const { decisions, attentionChangesEver } = run;
  const { document = run.document, movements = run.movements, stage = run.stage } = as;
  const ended = LASTING_STAGES.includes(stage);
  if (!document && attentionChangesEver === 0 && decisions.length === 0 && !ended) return undefined;
  return JSON.stringify([
    run.failure !== undefined,
    ended ? stage : "",
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
