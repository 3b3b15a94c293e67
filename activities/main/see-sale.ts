import { createHash } from "node:crypto";
import { ApplicationFailure, WorkflowFailedError, WorkflowNotFoundError } from "@temporalio/client";

import {
  type CallTarget,
  holdsUpDocument,
  type MainActivities,
  type SaleDocument,
  type SaleOutcome,
  saleWorkflowId,
  type SeenSale,
  someMovement,
  STATE_QUERY,
  type StockMovement,
  type WorkflowState,
} from "../../src/contract/index.ts";
import type { KeptSale } from "../../src/ledger/index.ts";
import { stillWaiting } from "../failure.ts";
import { ageMs, pollPauseMs } from "../poll-schedule.ts";
import type { WaitContext } from "./waits.ts";

/** A worker answers a query within seconds. */
const QUERY_WITHIN_MS = 5_000;

/** Nothing but Temporal and the database is asked, and a cashier may wait at the till. */
const LOOKS = { firstPollMs: 300, longestPollMs: 60_000, longestPollAfterDayMs: 600_000 };

/**
 * What is known of the sale of that number now; null where nobody knows of one.
 * @throws an error to be tried again, while the sale's worker or the ledger does not answer
 */
export async function seeSale(
  { workflows, ledger }: Pick<WaitContext, "workflows" | "ledger">,
  { connection, businessId }: CallTarget,
  number: string,
): Promise<SeenSale | null> {
  const handle = workflows.getHandle(saleWorkflowId({ connection, businessId, traderInvoiceNumber: number }));
  const kept = () => ledger.records.findSale({ connection, businessId }, number);
  let open: boolean;
  try {
    open = (await handle.describe()).status.name === "RUNNING";
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
    const known = await kept();
    return known ? fromLedger(known, "forgotten") : null;
  }
  const state = () =>
    workflows.withDeadline(Date.now() + QUERY_WITHIN_MS, () => handle.query<WorkflowState>(STATE_QUERY));
  if (open) return fromState(await state());
  try {
    const outcome = (await handle.result()) as SaleOutcome;
    // What is closed is in the ledger.
    const known = await kept();
    return known ? fromLedger(known, "closed") : fromOutcome(outcome);
  } catch (error) {
    if (!(error instanceof WorkflowFailedError)) throw error;
    const known = await kept();
    const failure = error.cause?.message ?? error.message;
    if (known) return { ...fromLedger(known, "stopped"), failure };
    // It may have been ended after its document was signed, and before it could keep its record.
    if (!(error.cause instanceof ApplicationFailure)) return { ...fromState(await state()), run: "stopped", failure };
    return { run: "stopped", stage: "cancelled", numberTaken: false, tookStock: false, restocked: false, failure };
  }
}

export function createSeeSale(context: WaitContext) {
  return {
    seeSale: async ({ connection, businessId, number, unlike, sinceMs }) => {
      const sale = await seeSale(context, { connection, businessId }, number);
      const mark = createHash("sha256").update(JSON.stringify(sale)).digest("hex").slice(0, 16);
      if (mark !== unlike) return { sale, mark };
      const stage = sale ? `at stage ${sale.stage}` : "not known";
      throw stillWaiting(`The sale ${number} is still ${stage}.`, pollPauseMs(ageMs(sinceMs), LOOKS, context.random));
    },
  } satisfies Partial<MainActivities>;
}

function fromState(state: WorkflowState): SeenSale {
  const { stage, document, creditNote, attentions, stockMovements, inAll } = state;
  return {
    run: "open",
    stage,
    saleId: document?.id,
    saleDate: document?.saleDate,
    fingerprint: state.fingerprint,
    numberTaken: state.numberTaken,
    tookStock: someMovement({ stockMovements, ...(inAll && { inAll }) }, isTaken),
    restocked: someMovement({ stockMovements, ...(inAll && { inAll }) }, isRestocked),
    refund: state.refund,
    creditedBy: signedNumber(creditNote),
    receipt: document?.receipt,
    heldUp: attentions.find((one) => holdsUpDocument(one, stockMovements))?.code,
  };
}

/** Of a closed workflow that the ledger does not know: nothing of it was ever sent. */
function fromOutcome({ stage, sale, numberTaken, stockMovements }: SaleOutcome): SeenSale {
  return {
    run: "closed",
    stage,
    saleId: sale?.id,
    saleDate: sale?.saleDate,
    numberTaken,
    tookStock: stockMovements.some(isTaken),
    restocked: stockMovements.some(isRestocked),
    receipt: sale?.receipt,
  };
}

function fromLedger({ record, creditNote }: KeptSale, run: SeenSale["run"]): SeenSale {
  const { document, movements, attentions, fingerprint, numberTaken } = record;
  const note = creditNote?.record.stage === "cancelled" ? undefined : creditNote?.record;
  const held = [...attentions, ...(note?.attentions ?? [])].find((one) => holdsUpDocument(one, movements));
  return {
    run,
    stage: note ? (note.stage === "credited" ? "credited" : "crediting") : record.stage,
    saleId: document?.id,
    saleDate: document?.saleDate,
    fingerprint,
    numberTaken: numberTaken || document !== null,
    tookStock: movements.some(isTaken),
    restocked: [...movements, ...(note?.movements ?? [])].some(isRestocked),
    refund: record.refund ?? note?.refund,
    creditedBy: signedNumber(note?.document),
    receipt: document?.receipt,
    heldUp: held?.code,
  };
}

function isTaken({ purpose, state }: Pick<StockMovement, "purpose" | "state">): boolean {
  return purpose === "sold" && state !== "dropped";
}

function isRestocked({ purpose }: Pick<StockMovement, "purpose">): boolean {
  return purpose === "restocked";
}

function signedNumber(creditNote: SaleDocument | null | undefined): string | undefined {
  return creditNote?.status === "completed" ? creditNote.traderInvoiceNumber : undefined;
}
