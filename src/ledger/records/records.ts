import type { ClosedRun, Decision, RecordPart, SaleDocument } from "../../contract/index.ts";
import type { Database } from "../database.ts";
import type { Business, Writer } from "../events/chain.ts";
import { type ClosedRow, closedRows, markClosed, writerOf } from "./closed-rows.ts";
import { decisionsOf, findSale, type KeptSale, saleOfCreditNote } from "./find-sale.ts";
import type { SaveAnswer } from "./save.ts";
import { keepLines, type RecordGap, savePart } from "./save-part.ts";
import { saveUnderWay, type UnderWayRecord } from "./save-under-way.ts";
import { type RecordsReport, verifyRecords } from "./verify-records.ts";

/** The business's documents as they are now. Functions throw LedgerUnavailableError while the ledger cannot answer. */
export interface Records {
  /** Keeps a sale or a credit note, with its lines, receipt and movements, and tells of it in the business's events. */
  saveDocument(
    business: Business,
    record: RecordPart,
    writer: Writer,
    how?: { givenBackKnown?: boolean | undefined },
  ): Promise<SaveAnswer | RecordGap>;
  /** Keeps that a document is under way, where nothing else is known of it. */
  saveUnderWay(business: Business, underWay: UnderWayRecord, writer: Writer): Promise<void>;
  /** Keeps the lines of a document that was kept without them. To be repeated freely. */
  keepLines(business: Business, of: Pick<RecordPart, "type" | "number">, document: SaleDocument): Promise<void>;
  /** The sale of a number, however long ago it was. */
  findSale(business: Business, number: string): Promise<KeptSale | undefined>;
  /** The number of the sale that a credit note reverses, by the credit note's own number. */
  saleOfCreditNote(business: Business, number: string): Promise<string | undefined>;
  /** What operators decided on a document, in all runs of the workflow. */
  decisionsOf(business: Business, of: ClosedRow["of"], workflowId: string): Promise<Decision[]>;
  /** Which run wrote the document's row; undefined where there is none. */
  writerOf(business: Business, of: ClosedRow["of"]): Promise<Writer | undefined>;
  /**
   * Keeps, or takes back, that a document's workflow ended without an outcome. @param runId which wrote the row, as
   * whoever looked at the workflow then knew it
   */
  markClosed(business: Business, of: ClosedRow["of"], runId: string, closed: ClosedRun | undefined): Promise<void>;
  /** The rows that are marked so, of all businesses. */
  closedRows(): Promise<ClosedRow[]>;
  /** Holds each document against the event that it was written with. */
  verify(business: { connection: string; businessId: string }): Promise<RecordsReport>;
}

export function createRecords(database: Database): Records {
  return {
    saveDocument: (business, record, writer, how) =>
      database.transact((db) => savePart(db, business, record, writer, how)),
    saveUnderWay: (business, underWay, writer) =>
      database.transact((db) => saveUnderWay(db, business, underWay, writer)),
    keepLines: (business, of, document) => database.transact((db) => keepLines(db, business, of, document)),
    findSale: (business, number) => database.query((db) => findSale(db, business, number)),
    saleOfCreditNote: (business, number) => database.query((db) => saleOfCreditNote(db, business, number)),
    decisionsOf: (business, of, workflowId) => database.query((db) => decisionsOf(db, business, of, workflowId)),
    writerOf: (business, of) => database.query((db) => writerOf(db, business, of)),
    markClosed: (business, of, runId, closed) => database.transact((db) => markClosed(db, business, of, runId, closed)),
    closedRows: () => database.query(closedRows),
    verify: ({ connection, businessId }) => verifyRecords(database, { connection, business_id: businessId }),
  };
}
