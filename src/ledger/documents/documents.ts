import type { AnsweredRow, ClosedRun, DocumentRow, RunNote } from "../../contract/index.ts";
import { ended } from "../claims/claim.ts";
import type { Database } from "../database.ts";
import type { Business, Writer } from "../events/chain.ts";
import {
  among,
  closedRows,
  contradicted,
  countEnded,
  decisionsOf,
  findSale,
  listSales,
  type SaleOfBusiness,
  saleOfCreditNote,
  type SalesRequest,
} from "./read-sales.ts";
import { release, reserve, type ReservedRecord } from "./reserve.ts";
import { documentClaim, type OpenedRecord, type Opening } from "./row.ts";
import {
  closeUnlessSent,
  decide,
  type DecideDocumentRequest,
  read,
  settle,
  settleAnswered,
  type SettleAnswerRequest,
  type SettleDocumentRequest,
} from "./settle.ts";
import { type DocumentKey, take, type TakeDocumentRequest, takeFirst } from "./take.ts";
import { unfinished, type UnfinishedRequest } from "./unfinished.ts";
import { type Answer, answered, markClosed, note, open, openNew } from "./write.ts";

export type Documents = ReturnType<typeof createDocuments>;

/** A list of all sales that there ever were takes longer than what a sale waits for. */
const LIST_WITHIN_MS = 60_000;

/**
 * The rows of the business's documents, and who writes them: a run that begins, the activity that sends and has the
 * answer, the run where only it knows, and the worker that finds a run closed. The claim is a part of the row, so that
 * every attempt of an intent, also of another run, sends the same bytes under the same key (docs/decisions/0022). Each
 * function is one statement or one transaction; it throws LedgerUnavailableError while the ledger cannot answer, and may
 * then be called again as it was.
 */
export function createDocuments(database: Database) {
  return {
    /** The first thing that a run does: its row is there from then on. Gives what an older row said. */
    open: (business: Business, record: OpenedRecord, by: Opening) =>
      database.transact((db) => open(db, business, record, by)),
    /** The same for a number that nobody has, in one statement. False if there is a row: then nothing is written. */
    openNew: (business: Business, record: OpenedRecord, by: Opening) =>
      database.query((db) => openNew(db, business, record, by)),
    /** Opens the row of a corrected sale before its own run begins. Gives who has its number, if somebody has it. */
    reserve: (business: Business, record: ReservedRecord, by: Opening) =>
      database.transact((db) => reserve(db, business, record, by)),
    /** Ends such a row whose correction was refused, or given up. */
    release: (business: Business, of: { number: string; replaces: string }, by: Opening) =>
      database.transact((db) => release(db, business, of, by)),
    /** Before sending. @throws LedgerError also when the intent has another idempotency key */
    take: (request: TakeDocumentRequest) =>
      database.inOneStatement(
        (db) => takeFirst(db, request),
        (db) => take(db, request),
      ),
    /** The execution has ended without an outcome for the claim, and sends no more. */
    ended: ({ of, intent, execution, ...business }: DocumentKey & Pick<TakeDocumentRequest, "intent" | "execution">) =>
      database.query((db) => ended(db, documentClaim(business, of), { intent, execution })),
    /**
     * Records what came of it. Idempotent. A document once recorded stays; `contradicted`: it is another one than was
     * recorded, which the events tell.
     */
    settle: (request: SettleDocumentRequest) => database.transact((db) => settle(db, request)),
    /** The same with the service's answer, for the claim and the row at once. */
    settleAnswered: async (request: SettleAnswerRequest) => settleAnswered(database, request),
    /** An operator's decision, kept with who and why. A document that is known wins over it. */
    decide: (request: DecideDocumentRequest) => database.transact((db) => decide(db, request)),
    /** Undefined: nothing of the document was ever taken, decided, or read at the service. */
    read: (key: DocumentKey) => database.query((db) => read(db, key)),
    /** @returns whether a document of it exists, or may; if not, what was asked for by now is not sent any more */
    closeUnlessSent: (request: DocumentKey & { writer: Writer }) =>
      database.transact((db) => closeUnlessSent(db, request)),
    /** The documents that were reported within so many days if another one was recorded, the latest first. */
    contradicted: (days: number) => database.query((db) => contradicted(db, days)),
    /** Writes an answer of the service, with all its lines. An answer that is older than the row's changes nothing. */
    answered: (business: Business, of: AnsweredRow, answer: Answer, writer: Writer) =>
      database.transact((db) => answered(db, business, of, answer, writer)),
    /** Writes what only the run knows. */
    note: (business: Business, told: RunNote, writer: Writer) =>
      database.transact((db) => note(db, business, told, writer)),
    /** The sale of a number, however long ago it was. */
    findSale: (business: Business, number: string) => database.query((db) => findSale(db, business, number)),
    listSales: (request: SalesRequest) => database.transact((db) => listSales(db, request), LIST_WITHIN_MS),
    /** A page of the sales of which something is left to be done. */
    unfinished: (request: UnfinishedRequest, page?: number) =>
      database.transact((db) => unfinished(db, request, page), LIST_WITHIN_MS),
    countEnded: (of: Pick<SalesRequest, "connection" | "businessId">) => database.query((db) => countEnded(db, of)),
    among: (sales: readonly SaleOfBusiness[], which: "open" | "ended") =>
      database.query((db) => among(db, sales, which)),
    saleOfCreditNote: (business: Business, number: string) =>
      database.query((db) => saleOfCreditNote(db, business, number)),
    decisionsOf: (business: Business, of: DocumentRow, workflowId: string) =>
      database.query((db) => decisionsOf(db, business, of, workflowId)),
    /** Keeps, or takes back, that a document's workflow ended without an outcome. @param writer the run, as the row has it */
    markClosed: (business: Business, of: DocumentRow, writer: Writer, closed: ClosedRun | undefined) =>
      database.transact((db) => markClosed(db, business, of, writer, closed)),
    closedRows: () => database.query(closedRows),
  };
}
