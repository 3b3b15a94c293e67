/**
 * The ledger: the tables of documents, movements, claims, counts, events and books in PostgreSQL, and every statement
 * over them. It knows neither Temporal nor the two services. What is sent at most once is claimed here first, and
 * settled with its answer: who moves its claim on from state to state stands in `documents/take.ts` for a document, in
 * `claims/at-most-once.ts` for a movement and a sync batch.
 *
 * Stands on: `src/contract`, `src/servers`.
 */
export type * from "./books/bill-payments.ts";
export type { KeepPageRequest, KeptEntry, KeptPage } from "./books/mirror.ts";
export type { ListedEntry, PeriodOfOwner } from "./books/mirror-list.ts";
export type { Payer } from "./books/payment-findings.ts";
export type * from "./books/purchases.ts";
export type { Reconciliation } from "./books/reconciliation.ts";
export type * from "./books/report-types.ts";
export type { Reports } from "./books/reports.ts";
export type { LostExecution, UnderWay } from "./claims/claim.ts";
export type { OpenedRecord } from "./documents/row.ts";
export type { DocumentOutcome, DocumentState } from "./documents/settle.ts";
export type { DocumentKey, NumberOwner, TakeDocumentAnswer, TakeDocumentRequest } from "./documents/take.ts";
export { accountingChain } from "./events/chain.ts";
export type { Business, NewEvent, Writer } from "./events/chain.ts";
export { CursorLostError } from "./events/events.ts";
export type { ErasedDocument, EraseRequest, Erasure } from "./erasure/erase.ts";
export type { ChainFinding, SeenHead } from "./events/verify-chain.ts";
export { LedgerError, LedgerUnavailableError, NewerTablesError } from "./errors.ts";
export { type Ledger, type LedgerOptions, openLedger } from "./open-ledger.ts";
export type { KeptItemOutcome } from "./item-registrations.ts";
export type { KeptObservation, Observation, Observations } from "./observations.ts";
export type { QuotaCounts, QuotaWindow, SettledEdge, SpendAnswer } from "./quota-counts.ts";
export type { KeptRecord, KeptSale, SaleOfBusiness, SaleRow, SecondDocument } from "./documents/read-sales.ts";
export type { Documents } from "./documents/documents.ts";
export { isThrough, refundUnderWay } from "./documents/through.ts";
export type { UnfinishedSale } from "./documents/unfinished.ts";
export type { NumberHolder } from "./documents/reserve.ts";
export type { Answer, OpenedBefore } from "./documents/write.ts";
export type { RowFinding } from "./events/verify-rows.ts";
export type { MovedRows } from "./move.ts";
export { isHeld, type KnownPlace, misfitOf, type Place } from "./place.ts";
export type { BalanceEvidence } from "./stock/balance-around.ts";
export type { ListedHold } from "./stock/branch-holds.ts";
export type { ClaimedMovement, MovementKey } from "./stock/movement.ts";
export type { DecideRequest, Dispute, StockClaims, TakeRequest } from "./stock/stock-claims.ts";
export type { BatchKey, KeptBatch } from "./sync-batches/sync-batches.ts";
export type { VerifiedChain, VerifyRequest } from "./verify.ts";
