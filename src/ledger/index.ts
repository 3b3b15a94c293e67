export type { KeptBillPayment } from "./bill-payments/create-bill-payments.ts";
export type * from "./bill-payments/list.ts";
export { type UnderWay, wordOf } from "./claims/answers.ts";
export type { DocumentDecision } from "./documents/claim-row.ts";
export type * from "./documents/claims.ts";
export { startEmbeddedPostgres } from "./embedded/embedded-postgres.ts";
export { hasData } from "./embedded/find-place.ts";
export { accountingChain } from "./events/chain.ts";
export type { Business, ChainedEvent, NewEvent, Writer } from "./events/chain.ts";
export { CursorLostError } from "./events/read-events.ts";
export type { Events, VerifyRequest } from "./events/create-events.ts";
export type { ChainFinding, ChainReport, SeenHead } from "./events/findings.ts";
export { LedgerError, LedgerUnavailableError } from "./errors.ts";
export type { LostExecution } from "./claims/lost-executions.ts";
export { type Ledger, type LedgerOptions, openLedger } from "./open-ledger.ts";
export type { ItemRegistrations, KeptItemOutcome } from "./items/registrations.ts";
export type { KeptObservation, Observation, Observations } from "./observations/observations.ts";
export type { KeptPurchase } from "./purchases/create-purchases.ts";
export type * from "./purchases/list.ts";
export type { QuotaCounts, QuotaWindow, SettledEdge, SpendAnswer } from "./quota/counts.ts";
export type { Reconciliation } from "./reconcile/reconcile.ts";
export type { KeptRecord, KeptSale } from "./documents/find-sale.ts";
export type { Documents } from "./documents/documents.ts";
export type { SaleOfBusiness, SaleRow } from "./documents/list-sales.ts";
export { isThrough, refundUnderWay } from "./documents/through.ts";
export type { NumberHolder } from "./documents/reserve.ts";
export type { OpenedRecord } from "./documents/row.ts";
export type { OpenedBefore } from "./documents/write.ts";
export type { Answer } from "./documents/write.ts";
export type { RowFinding } from "./events/verify-rows.ts";
export type { DocumentsReport } from "./documents/verify.ts";
export type { Reports } from "./reports/create-reports.ts";
export type * from "./reports/listed.ts";
export type * from "./reports/report.ts";
export type {
  Balance,
  BalanceEvidence,
  ClaimedMovement,
  ClaimEvent,
  Decision,
  DecideRequest,
  Dispute,
  ListedHold,
  MovementKey,
  StockClaims,
  TakeRequest,
} from "./stock/claims.ts";
export type { BatchDecision, BatchKey, KeptBatch, SyncBatches } from "./sync-batches/sync-batches.ts";
export type { KeepPageRequest, KeptPage, ListedEntry, PeriodOfOwner } from "./synced/collection.ts";
export type { WebhookEvents } from "./webhook-events/webhook-events.ts";
