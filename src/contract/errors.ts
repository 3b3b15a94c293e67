/** Stable words for callers. Those that a workflow answers with are also the `type` of its failure. */
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

export abstract class FiscalflowError extends Error {
  abstract readonly code: ErrorCode;
}

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

export interface ConflictDetails {
  fields: string[];
}

export interface UnknownBusinessDetails {
  businesses: readonly string[];
}

export interface RefusalDetails {
  /** The updates that are taken as it stands, by this workflow or by the one that the message names. */
  allowed: string[];
  problems?: string[];
}

export interface InvalidInputDetails {
  what: string;
  problems: readonly string[];
}

export function invalidInputInWords({ what, problems }: InvalidInputDetails, verb: "is" | "are" = "is"): string {
  return `The ${what} ${verb} not valid:\n${problems.map((problem) => `  ${problem}`).join("\n")}`;
}
