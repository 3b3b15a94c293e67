import { FiscalflowError } from "../contract/errors.ts";
import type { UnknownBusinessError } from "../contract/connection.ts";
import type { InvalidInputError } from "../contract/schema/parse-input.ts";
import type {
  LedgerAwayError,
  NotAllowedError,
  SaleConflictError,
  SaleFailedError,
  SaleNotFoundError,
  TemporalRefusedError,
  TemporalUnavailableError,
} from "./errors.ts";
import type { CursorLostError } from "./events.ts";
import type { NoAnswerError, NoWorkerError } from "./no-answer.ts";
import type { UnknownConnectionError } from "./sale-key.ts";

/** Every error that the client throws on purpose: its `code` tells TypeScript the class, and so the further fields. */
export type ClientError =
  | CursorLostError
  | InvalidInputError
  | LedgerAwayError
  | NoAnswerError
  | NoWorkerError
  | NotAllowedError
  | SaleConflictError
  | SaleFailedError
  | SaleNotFoundError
  | TemporalRefusedError
  | TemporalUnavailableError
  | UnknownBusinessError
  | UnknownConnectionError;

/** As `error instanceof FiscalflowError`, after which `error.code === "Conflict"` gives `error.fields`, and so on. */
export function isFiscalflowError(error: unknown): error is ClientError {
  return error instanceof FiscalflowError;
}
