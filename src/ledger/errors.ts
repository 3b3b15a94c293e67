/**
 * The ledger cannot be reached, or cannot answer now: nothing can be said about what it holds, and a write may or may
 * not have been kept. The message tells what was tried and what to do.
 */
export class LedgerUnavailableError extends Error {
  override readonly name = "LedgerUnavailableError";
  readonly code = "unavailable";
}

/** A defect or a misuse; never to be retried. */
export class LedgerError extends Error {
  override readonly name = "LedgerError";
  readonly code = "defect";
}
