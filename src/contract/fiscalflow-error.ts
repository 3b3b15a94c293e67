/**
 * What went wrong for whoever calls fiscalflow, as one stable word. Those that a workflow answers with are also the
 * `type` of its failure, which every SDK of Temporal shows.
 */
export const ERROR_CODES = [
  "InvalidInput",
  "UnknownConnection",
  "UnknownBusiness",
  "Conflict",
  "NotFound",
  "NotAllowed",
  "Failed",
  "NoAnswer",
  "NoWorker",
  "LedgerAway",
  "CursorLost",
  "TemporalUnavailable",
  "TemporalRefused",
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

/** The base of every error that a caller of the client is meant to handle. */
export abstract class FiscalflowError extends Error {
  abstract readonly code: ErrorCode;
}
