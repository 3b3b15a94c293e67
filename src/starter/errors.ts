import { ApplicationFailure } from "@temporalio/client";

import { FAILURES } from "../contract/calls.ts";

/** What a caller of the starter can meet, besides invalid input (`InvalidInputError`) and an unreachable Temporal. */
export class SaleConflictError extends Error {
  override readonly name = "SaleConflictError";
  readonly code = "Conflict";
  /** The fields in which the contents differ; empty where the known content is not kept. */
  readonly fields: readonly string[];

  constructor(message: string, fields: readonly string[] = []) {
    super(message);
    this.fields = fields;
  }

  static between(
    invoice: string,
    fields: readonly string[],
    fingerprints: { asked: string; known: string },
  ): SaleConflictError {
    const differing = fields.length > 0 ? `they differ in ${fields.join(", ")}` : "their contents differ";
    const { asked, known } = fingerprints;
    return new SaleConflictError(
      `The number ${invoice} belongs to another sale: ${differing} (asked for: ${asked.slice(0, 12)}…, known: ${known.slice(0, 12)}…). Nothing was started. Use another number, or start it with the content that it has.`,
      fields,
    );
  }
}

/**
 * There is no sale, or credit note, with this number that Temporal knows; where it says so, the ledger does not either.
 */
export class SaleNotFoundError extends Error {
  override readonly name = "SaleNotFoundError";
  readonly code = "NotFound";

  constructor(workflowId: string, alsoMissing = "") {
    super(
      `There is no workflow ${workflowId}${alsoMissing}. Check the invoice number, the connection and the business.`,
    );
  }

  static inLedger(workflowId: string): SaleNotFoundError {
    return new SaleNotFoundError(workflowId, ", and the ledger has no sale of that number");
  }
}

/** The workflow's present stage does not allow what was asked for; the message says what it allows. */
export class NotAllowedError extends Error {
  override readonly name = "NotAllowedError";
  readonly code = "NotAllowed";
}

/** The workflow ended without an outcome: by input that nobody can mend, or terminated by somebody. */
export class SaleFailedError extends Error {
  override readonly name = "SaleFailedError";
  readonly code = "Failed";
}

/** Nobody answered in time. Whatever was started goes on as soon as a worker does. */
export class NoAnswerError extends Error {
  override readonly name = "NoAnswerError";
  readonly code = "NoAnswer";

  constructor(
    workflowId: string,
    cause: unknown,
    message = `No worker answered for ${workflowId} in time. Nothing is lost: it goes on as soon as a worker runs. Is \`fiscalflow worker\` running, on this namespace?`,
  ) {
    super(message, { cause });
  }

  static ofLedger(workflowId: string, cause: unknown): NoAnswerError {
    const message = `Temporal has no workflow ${workflowId}, and no worker asked the ledger for the sale in time. Nothing was changed. Start \`fiscalflow worker\` on this namespace, and ask again.`;
    return new NoAnswerError(workflowId, cause, message);
  }
}

/** Temporal has no workflow of the sale, and the database that would know it does not answer. */
export class LedgerAwayError extends Error {
  override readonly name = "LedgerAwayError";
  readonly code = FAILURES.ledgerAway;

  constructor(workflowId: string, cause: Error) {
    super(
      `Temporal has no workflow ${workflowId}, and the ledger cannot be asked for the sale. Nothing was changed. Ask again once the ledger is back. ${cause.message}`,
      { cause },
    );
  }
}

/** A failure out of a workflow as the error that a caller expects. */
export function workflowError(cause: unknown): Error {
  if (!(cause instanceof ApplicationFailure)) {
    return new SaleFailedError(cause instanceof Error ? cause.message : String(cause), { cause });
  }
  if (cause.type === FAILURES.notAllowed) return new NotAllowedError(cause.message);
  if (cause.type === FAILURES.conflict) return new SaleConflictError(cause.message);
  if (cause.type === FAILURES.invalidInput) return new InvalidSaleError(cause.message);
  return new SaleFailedError(cause.message, { cause });
}

/** The workflow refused its input; the message names each field. */
export class InvalidSaleError extends Error {
  override readonly name = "InvalidSaleError";
  readonly code = FAILURES.invalidInput;
}
