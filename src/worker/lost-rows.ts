import type { Client, WorkflowExecutionInfo } from "@temporalio/client";
import { randomUUID } from "node:crypto";
import { z } from "zod";

import {
  DEFAULT_CONNECTION,
  type DocumentRow,
  nairobiDate,
  outcomeOfState,
  type SaleDocument,
  type SaleOutcome,
  SEARCH_ATTRIBUTES,
  SETTLED_STAGES,
  type Stage,
  STATE_QUERY,
  WORKFLOW_TYPES,
  type WorkflowState,
} from "../contract/index.ts";
import type { Business, Documents, KeptSale, Ledger, OpenedRecord, Writer } from "../ledger/index.ts";
import { answeredInTime } from "../starter/answered-in-time.ts";
import { NoAnswerError, queryOf } from "../starter/errors.ts";
import { attributesOf } from "../starter/sale-key.ts";
import { doneIn, listedRuns, startOfRun } from "../starter/runs.ts";
import { resultOf } from "../starter/state-of-sale.ts";
import { askedOf, ifReadable, saleOfRun } from "./each-minute.ts";

/** A workflow of which the database had lost what it had done, or how that ended. */
export interface LostRow {
  workflowId: string;
  what: "sale" | "sync batch";
  /** It is open, and no worker gave its answer: what its row is to say is not known yet. */
  isUnasked?: true;
}

type Books = Pick<Ledger, "documents" | "syncBatches">;

const batchInput = z.object({ syncBatchId: z.string(), connection: z.string().default(DEFAULT_CONNECTION) });

/** Its document is there, and it may wait for a refund: it writes nothing by itself any more. */
const STAGES_AFTER_RECEIPT: readonly Stage[] = ["completed", "crediting", "credited"];
/** Of an open sale. */
const ANSWER_WITHIN_MS = 10_000;

/**
 * Writes what the ledger lacks of each sale and each sync batch whose workflow has ended since then (Unix milliseconds),
 * and of each open sale that is completed: started again once Temporal has forgotten it, it would be sent again. A row
 * that is new says that something may have been sent; of a sale that completed it gets the documents and the stage. What
 * else runs has its own steps to tell. To be repeated freely.
 * @throws LedgerUnavailableError, and what Temporal's client throws
 */
export async function* keepLostRows(client: Client, ledger: Books, sinceMs: number): AsyncGenerator<LostRow> {
  const { sale, processSyncBatch } = WORKFLOW_TYPES;
  const ended = `WorkflowType IN ("${sale}", "${processSyncBatch}") AND ExecutionStatus != "Running" AND CloseTime > "${new Date(sinceMs).toISOString()}"`;
  for await (const execution of listedRuns(client, { query: ended })) {
    const isSale = execution.type === sale;
    const isLost = await ifReadable(
      isSale
        ? keepSale(client, ledger, execution, () => resultIn(client, execution))
        : keepBatch(client, ledger, execution),
    );
    if (isLost) yield { workflowId: execution.workflowId, what: isSale ? "sale" : "sync batch" };
  }
  const stages = STAGES_AFTER_RECEIPT.map((stage) => `"${stage}"`).join(", ");
  const open = `WorkflowType = "${sale}" AND ExecutionStatus = "Running" AND ${SEARCH_ATTRIBUTES.stage} IN (${stages})`;
  // Where one gives no answer, the others would take as long to give none.
  let noAnswer: NoAnswerError | undefined;
  for await (const execution of listedRuns(client, { query: open })) {
    const { workflowId } = execution;
    const know = async (): Promise<SaleOutcome> => {
      if (noAnswer) throw noAnswer;
      return await stateIn(client, workflowId);
    };
    try {
      if (await ifReadable(keepSale(client, ledger, execution, know))) yield { workflowId, what: "sale" };
    } catch (error) {
      if (!(error instanceof NoAnswerError)) throw error;
      noAnswer = error;
      yield { workflowId, what: "sale", isUnasked: true };
    }
  }
}

/** How a run ended; undefined where it did so without an outcome. */
async function resultIn(client: Client, execution: WorkflowExecutionInfo): Promise<SaleOutcome | undefined> {
  return execution.status.name === "COMPLETED" ? await resultOf(client, execution) : undefined;
}

/** @throws NoAnswerError */
async function stateIn(client: Client, workflowId: string): Promise<SaleOutcome> {
  const query = () => client.workflow.getHandle(workflowId).query<WorkflowState>(STATE_QUERY);
  return outcomeOfState(await answeredInTime(client, queryOf(workflowId), query, { withinMs: ANSWER_WITHIN_MS }));
}

/** @param know how the sale stands */
async function keepSale(
  client: Client,
  { documents }: Books,
  execution: WorkflowExecutionInfo,
  know: () => Promise<SaleOutcome | undefined>,
): Promise<boolean> {
  const sale = saleOfRun(execution);
  if (!sale) return false;
  const { number, ...business } = sale;
  const row = await documents.findSale(business, number);
  const isOpen = execution.status.name === "RUNNING";
  if (isOpen && row?.record.stage === attributesOf(execution).get(SEARCH_ATTRIBUTES.stage)) return false;
  // Before anything is written: whoever repeats this finds what could not be read as it was.
  const known = await know();
  const { workflowId, runId, closeTime } = execution;
  const lost = new LostSale(documents, business, number, { workflowId, runId }, closeTime?.getTime() ?? Date.now());
  if (!row) {
    const asked = (await doneIn(client, execution)).sent && (await askedOf(client, execution, sale.businessId));
    if (!asked && !known?.sale) return false;
    if (asked) await lost.open(asked);
  }
  return (known !== undefined && (await lost.keep(known, row))) || !row;
}

class LostSale {
  readonly #documents: Documents;
  readonly #business: Business;
  readonly #of: DocumentRow;
  readonly #writer: Writer;
  readonly #atMs: number;

  constructor(documents: Documents, business: Business, number: string, writer: Writer, atMs: number) {
    this.#documents = documents;
    this.#business = business;
    this.#of = { type: "sale", number };
    this.#writer = writer;
    this.#atMs = atMs;
  }

  async open(asked: OpenedRecord): Promise<void> {
    const { startedAtMs: askedAtMs } = asked;
    await this.#documents.open(this.#business, asked, { writer: this.#writer, askedAtMs, inDoubt: true });
  }

  /** @returns whether the row said less */
  async keep(
    { sale, creditNote, refund, stage, numberTaken, cancelRequested }: SaleOutcome,
    row: KeptSale | undefined,
  ) {
    let isLess = false;
    if (sale && saysLess(row?.record.document, sale)) {
      await this.#answer(this.#of, sale);
      isLess = true;
    }
    // Somebody else's credit note has no row.
    const isOurs = refund !== undefined && creditNote?.traderInvoiceNumber === refund.traderInvoiceNumber;
    if (sale && isOurs && saysLess(row?.creditNote?.record.document, creditNote)) {
      const of = { type: "credit_note", number: refund.traderInvoiceNumber, originalSaleId: sale.id } as const;
      const { returnDate: date = nairobiDate(this.#atMs) } = refund;
      const asked = { ...of, stage: "submitting", startedAtMs: this.#atMs, date, refund } as const;
      await this.#documents.open(this.#business, asked, { writer: this.#writer, askedAtMs: this.#atMs });
      await this.#answer(of, creditNote);
      isLess = true;
    }
    const known = (await this.#documents.findSale(this.#business, this.#of.number))?.record.stage;
    if (SETTLED_STAGES.includes(stage) && stage !== known) {
      const nothing = { attentions: [], attentionChanges: [], decisions: [] };
      const told = { ...this.#of, asOfMs: this.#atMs, sequence: 0, stage, numberTaken, refund, cancelRequested };
      await this.#documents.note(this.#business, { ...told, ...nothing }, this.#writer);
      isLess = true;
    }
    return isLess;
  }

  async #answer(of: DocumentRow, document: SaleDocument): Promise<void> {
    const { intent = 1 } = (await this.#documents.read({ ...this.#business, of })) ?? {};
    const outcome = { kind: "document", documentId: document.id } as const;
    const answer = { document, askedAtMs: this.#atMs };
    const settled = { ...this.#business, of, intent, outcome, answer, writer: this.#writer };
    await this.#documents.settleAnswered(settled);
  }
}

function saysLess(known: SaleDocument | null | undefined, document: SaleDocument): boolean {
  return (
    known?.id !== document.id ||
    known.status !== document.status ||
    Boolean(known.receipt) !== Boolean(document.receipt)
  );
}

async function keepBatch(client: Client, { syncBatches }: Books, execution: WorkflowExecutionInfo): Promise<boolean> {
  const { workflowId, runId } = execution;
  const { data: batch } = batchInput.safeParse((await startOfRun(client, execution)).input);
  if (!batch || (await syncBatches.read(batch))) return false;
  // The step is from before the restore: it is written as taken, and nobody gets it.
  const { kind } = await syncBatches.take({
    ...batch,
    generation: 1,
    token: randomUUID(),
    execution: randomUUID(),
    underWayForMs: 0,
    scheduledAtMs: 0,
    writer: { workflowId, runId },
    nowMs: Date.now(),
  });
  return kind === "unknown";
}
