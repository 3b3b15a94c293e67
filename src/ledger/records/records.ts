import type {
  AnsweredRow,
  ClosedRun,
  Decision,
  DocumentRow,
  RunNote,
  SettledAnswer,
  Stage,
} from "../../contract/index.ts";
import type { Database } from "../database.ts";
import type { Business, Writer } from "../events/chain.ts";
import { type ClosedRow, closedRows } from "./closed-rows.ts";
import { decisionsOf, findSale, type KeptSale, saleOfCreditNote } from "./find-sale.ts";
import { type NumberHolder, release, reserve, type ReservedRecord } from "./reserve.ts";
import { type RecordsReport, verifyRecords } from "./verify-records.ts";
import type { OpenedRecord, Opening } from "./row.ts";
import { type Answer, markClosed, note, open, openNew, settle } from "./write.ts";

/**
 * The rows of the business's documents, and who writes them: a run that begins, the activity that has an answer, the run
 * where only it knows, and the worker that finds a run closed. Functions throw LedgerUnavailableError while the ledger
 * cannot answer, and may then be called again as they were.
 */
export interface Records {
  /** The first thing that a run does: its row is there from then on. Gives the stage that an older row had. */
  open(business: Business, record: OpenedRecord, by: Opening): Promise<Stage | undefined>;
  /** The same for a number that nobody has, in one statement. False where there is a row: then nothing is written. */
  openNew(business: Business, record: OpenedRecord, by: Opening): Promise<boolean>;
  /** Opens the row of a corrected sale before its own run begins. Gives who has its number, where somebody has it. */
  reserve(business: Business, record: ReservedRecord, by: Opening): Promise<NumberHolder | undefined>;
  /** Ends such a row whose correction was refused, or given up. */
  release(business: Business, of: { number: string; replaces: string }, by: Opening): Promise<void>;
  /** Writes an answer of the service, with all its lines. An answer that is older than the row's changes nothing. */
  settle(business: Business, of: AnsweredRow, answer: Answer, writer: Writer): Promise<SettledAnswer>;
  /** Writes what only the run knows. */
  note(business: Business, told: RunNote, writer: Writer): Promise<void>;
  /** The sale of a number, however long ago it was. */
  findSale(business: Business, number: string): Promise<KeptSale | undefined>;
  /** The number of the sale that a credit note reverses, by the credit note's own number. */
  saleOfCreditNote(business: Business, number: string): Promise<string | undefined>;
  /** What operators decided on a document, in all runs of the workflow. */
  decisionsOf(business: Business, of: DocumentRow, workflowId: string): Promise<Decision[]>;
  /** Keeps, or takes back, that a document's workflow ended without an outcome. @param writer the run, as the row has it */
  markClosed(business: Business, of: DocumentRow, writer: Writer, closed: ClosedRun | undefined): Promise<void>;
  /** The rows that are marked so, of all businesses. */
  closedRows(): Promise<ClosedRow[]>;
  /** Holds each document against the event that it was written with. */
  verify(business: { connection: string; businessId: string }): Promise<RecordsReport>;
}

export function createRecords(database: Database): Records {
  return {
    open: (business, record, by) => database.transact((db) => open(db, business, record, by)),
    openNew: (business, record, by) => database.query((db) => openNew(db, business, record, by)),
    reserve: (business, record, by) => database.transact((db) => reserve(db, business, record, by)),
    release: (business, of, by) => database.transact((db) => release(db, business, of, by)),
    settle: (business, of, answer, writer) => database.transact((db) => settle(db, business, of, answer, writer)),
    note: (business, told, writer) => database.transact((db) => note(db, business, told, writer)),
    findSale: (business, number) => database.query((db) => findSale(db, business, number)),
    saleOfCreditNote: (business, number) => database.query((db) => saleOfCreditNote(db, business, number)),
    decisionsOf: (business, of, workflowId) => database.query((db) => decisionsOf(db, business, of, workflowId)),
    markClosed: (business, of, writer, closed) =>
      database.transact((db) => markClosed(db, business, of, writer, closed)),
    closedRows: () => database.query(closedRows),
    verify: ({ connection, businessId }) => verifyRecords(database, { connection, business_id: businessId }),
  };
}
