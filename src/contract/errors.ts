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

/** Types of the failures that a caller of the product may meet. */
export const FAILURES = {
  invalidInput: "InvalidInput",
  unknownBusiness: "UnknownBusiness",
  conflict: "Conflict",
  notFound: "NotFound",
  notAllowed: "NotAllowed",
  ledgerAway: "LedgerAway",
  cursorLost: "CursorLost",
} as const;

/** By these a run tells its caller what to correct: it has issued nothing, so nothing is to be carried on. */
export const REFUSALS: readonly unknown[] = [
  FAILURES.invalidInput,
  FAILURES.unknownBusiness,
  FAILURES.conflict,
  FAILURES.notAllowed,
  FAILURES.notFound,
];

/** Beside the message of a `Conflict`, where the fields that differ are known. */
export interface ConflictDetails {
  fields: string[];
}

/** Beside the message of an `UnknownBusiness`. */
export interface UnknownBusinessDetails {
  businesses: readonly string[];
}

/** Beside the message of a `NotAllowed`. */
export interface RefusalDetails {
  /** The updates that are taken as it stands, by this workflow or by the one that the message names. */
  allowed: string[];
  /** What is wrong with the request's own form, each as a sentence. */
  problems?: string[];
}

/** Beside the message of an `InvalidInput`. */
export interface InvalidInputDetails {
  what: string;
  problems: readonly string[];
}

export function invalidInputInWords({ what, problems }: InvalidInputDetails, verb: "is" | "are" = "is"): string {
  return `The ${what} ${verb} not valid:\n${problems.map((problem) => `  ${problem}`).join("\n")}`;
}
