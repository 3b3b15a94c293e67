import { ApplicationFailure } from "@temporalio/common";

import { FAILURES } from "../contract/index.ts";

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

/** There is no sale, or credit note, with this number that Temporal remembers. */
export class SaleNotFoundError extends Error {
  override readonly name = "SaleNotFoundError";
  readonly code = "NotFound";

  constructor(workflowId: string) {
    super(`There is no workflow ${workflowId}. Check the invoice number, the connection and the business.`);
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

  constructor(workflowId: string, cause: unknown) {
    super(
      `No worker answered for ${workflowId} in time. Nothing is lost: it goes on as soon as a worker runs. Is \`fiscalflow worker\` running, on this namespace?`,
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
