import { sql } from "kysely";

import type { AnsweredRow, ClosedRun, Decision, DocumentRow, RunNote, SettledAnswer } from "../../contract/index.ts";
import { ended } from "../claims/claim.ts";
import type { Database, Queries } from "../database.ts";
import type { Business, Writer } from "../events/chain.ts";
import { documentClaim, kindOf } from "./claim-row.ts";
import type {
  DecideDocumentRequest,
  DocumentKey,
  DocumentState,
  SecondDocument,
  SettleAnswerRequest,
  SettleDocumentRequest,
  TakeDocumentAnswer,
  TakeDocumentRequest,
} from "./claims.ts";
import { decide, read } from "./decide.ts";
import { type ClosedRow, closedRows } from "./closed-rows.ts";
import { decisionsOf, findSale, type KeptSale, saleOfCreditNote } from "./find-sale.ts";
import { among, countEnded, listSales, type SaleOfBusiness, type SaleRow, type SalesRequest } from "./list-sales.ts";
import { type NumberHolder, release, reserve, type ReservedRecord } from "./reserve.ts";
import { type DocumentsReport, verifyDocuments } from "./verify.ts";
import type { OpenedRecord, Opening } from "./row.ts";
import { settle, settleAnswered } from "./settle.ts";
import { take, takeFirst } from "./take.ts";
import { type Answer, answered, markClosed, note, open, openNew, type OpenedBefore } from "./write.ts";

/**
 * The rows of the business's documents, and who writes them: a run that begins, the activity that sends and has the
 * answer, the run where only it knows, and the worker that finds a run closed. The claim is a part of the row, so that
 * every attempt of an intent, also of another run, sends the same bytes under the same key (architecture, decisions 4,
 * 5 and 10). Functions throw LedgerUnavailableError while the ledger cannot answer, and may then be called again as they
 * were.
 */
export interface Documents {
  /** The first thing that a run does: its row is there from then on. Gives what an older row said. */
  open(business: Business, record: OpenedRecord, by: Opening): Promise<OpenedBefore | undefined>;
  /** The same for a number that nobody has, in one statement. False where there is a row: then nothing is written. */
  openNew(business: Business, record: OpenedRecord, by: Opening): Promise<boolean>;
  /** Opens the row of a corrected sale before its own run begins. Gives who has its number, where somebody has it. */
  reserve(business: Business, record: ReservedRecord, by: Opening): Promise<NumberHolder | undefined>;
  /** Ends such a row whose correction was refused, or given up. */
  release(business: Business, of: { number: string; replaces: string }, by: Opening): Promise<void>;
  /** Before sending. @throws LedgerError also when the intent has another idempotency key */
  take(request: TakeDocumentRequest): Promise<TakeDocumentAnswer>;
  /** The execution has ended without a word for the claim, and sends no more. */
  ended(request: DocumentKey & Pick<TakeDocumentRequest, "intent" | "execution">): Promise<void>;
  /**
   * Records what came of it. Idempotent. A document once recorded stays; `contradicted`: it is another one than was
   * recorded, which the events tell.
   */
  settle(request: SettleDocumentRequest): Promise<"settled" | "contradicted">;
  /** The same with the service's answer, for the claim and the row at once. */
  settleAnswered(request: SettleAnswerRequest): Promise<SettledAnswer>;
  /** An operator's decision, kept with who and why. A document that is known wins over it. */
  decide(request: DecideDocumentRequest): Promise<void>;
  /** Undefined: nothing of the document was ever taken, or decided. */
  read(key: DocumentKey): Promise<DocumentState | undefined>;
  /** The documents that were reported within so many days where another one was recorded, the latest first. */
  contradicted(days: number): Promise<SecondDocument[]>;
  /** Writes an answer of the service, with all its lines. An answer that is older than the row's changes nothing. */
  answered(business: Business, of: AnsweredRow, answer: Answer, writer: Writer): Promise<SettledAnswer>;
  /** Writes what only the run knows. */
  note(business: Business, told: RunNote, writer: Writer): Promise<void>;
  /** The sale of a number, however long ago it was. */
  findSale(business: Business, number: string): Promise<KeptSale | undefined>;
  /** Those first that are open, then the others, the latest of each first. */
  listSales(request: SalesRequest): Promise<SaleRow[]>;
  /** How many sales nothing carries on until they are restarted. */
  countEnded(of: Pick<SalesRequest, "connection" | "businessId">): Promise<number>;
  /** Those of these sales that are open, and not marked as ended; or those that are marked so. */
  among(sales: readonly SaleOfBusiness[], which: "open" | "ended"): Promise<SaleOfBusiness[]>;
  /** The number of the sale that a credit note reverses, by the credit note's own number. */
  saleOfCreditNote(business: Business, number: string): Promise<string | undefined>;
  /** What operators decided on a document, in all runs of the workflow. */
  decisionsOf(business: Business, of: DocumentRow, workflowId: string): Promise<Decision[]>;
  /** Keeps, or takes back, that a document's workflow ended without an outcome. @param writer the run, as the row has it */
  markClosed(business: Business, of: DocumentRow, writer: Writer, closed: ClosedRun | undefined): Promise<void>;
  /** The rows that are marked so, of all businesses. */
  closedRows(): Promise<ClosedRow[]>;
  /** Holds each document against the event that it was written with. */
  verify(business: { connection: string; businessId: string }): Promise<DocumentsReport>;
}

/** A list of all sales that there ever were takes longer than what a sale waits for. */
const LIST_WITHIN_MS = 60_000;

/** Each operation is one statement or one transaction, and may run again after a broken connection. */
export function createDocuments(database: Database): Documents {
  return {
    open: (business, record, by) => database.transact((db) => open(db, business, record, by)),
    openNew: (business, record, by) => database.query((db) => openNew(db, business, record, by)),
    reserve: (business, record, by) => database.transact((db) => reserve(db, business, record, by)),
    release: (business, of, by) => database.transact((db) => release(db, business, of, by)),
    take: (request) =>
      database.inOneStatement(
        (db) => takeFirst(db, request),
        (db) => take(db, request),
      ),
    ended: ({ of, intent, execution, ...business }) =>
      database.query((db) => ended(db, documentClaim(business, of), { intent, execution })),
    settle: async (request) => settle(database, request),
    settleAnswered: async (request) => settleAnswered(database, request),
    decide: (request) => database.transact((db) => decide(db, request)),
    read: (key) => database.query((db) => read(db, key)),
    contradicted: (days) => database.query((db) => contradicted(db, days)),
    answered: (business, of, answer, writer) => database.transact((db) => answered(db, business, of, answer, writer)),
    note: (business, told, writer) => database.transact((db) => note(db, business, told, writer)),
    findSale: (business, number) => database.query((db) => findSale(db, business, number)),
    listSales: (request) => database.transact((db) => listSales(db, request), LIST_WITHIN_MS),
    countEnded: (of) => database.query((db) => countEnded(db, of)),
    among: (sales, which) => database.query((db) => among(db, sales, which)),
    saleOfCreditNote: (business, number) => database.query((db) => saleOfCreditNote(db, business, number)),
    decisionsOf: (business, of, workflowId) => database.query((db) => decisionsOf(db, business, of, workflowId)),
    markClosed: (business, of, writer, closed) =>
      database.transact((db) => markClosed(db, business, of, writer, closed)),
    closedRows: () => database.query(closedRows),
    verify: ({ connection, businessId }) => verifyDocuments(database, { connection, business_id: businessId }),
  };
}

const MOST = 100;

async function contradicted(db: Queries, days: number): Promise<SecondDocument[]> {
  const { rows } = await sql<{ workflow_id: string; recorded: string; reported: string; at: Date }>`
    select workflow_id, content::json #>> '{detail,recorded}' as recorded,
      content::json #>> '{detail,documentId}' as reported, max(at) as at
    from events
    where kind = ${sql.lit(kindOf("contradicted"))} and at > clock_timestamp() - ${days} * interval '1 day'
    group by 1, 2, 3 order by 4 desc limit ${MOST}`.execute(db);
  return rows.map(({ workflow_id: workflowId, recorded, reported, at }) => {
    return { workflowId, recorded, reported, atMs: at.getTime() };
  });
}
