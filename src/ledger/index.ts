export * from "./documents/claims.ts";
export { startEmbeddedPostgres } from "./embedded/embedded-postgres.ts";
export { LedgerError, LedgerUnavailableError } from "./errors.ts";
export { type Ledger, type LedgerOptions, openLedger } from "./open-ledger.ts";
export type * from "./purchases/purchases.ts";
export type { QuotaCounts, QuotaWindow, SettledEdge, SpendAnswer } from "./quota/counts.ts";
export type {
  AppliedMovement,
  Balance,
  BalanceEvidence,
  ClaimedMovement,
  ClaimEvent,
  Decision,
  DecideRequest,
  MovementKey,
  MovementOutcome,
  ReadAnswer,
  RecordedMovement,
  SettleRequest,
  StockClaims,
  TakeAnswer,
  TakeRequest,
  Try,
} from "./stock/claims.ts";
