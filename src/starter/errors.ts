import { ApplicationFailure, NamespaceNotFoundError } from "@temporalio/client";

import {
  type ConflictDetails,
  FAILURES,
  FiscalflowError,
  type InvalidInputDetails,
  type RefusalDetails,
  type UnknownBusinessDetails,
} from "../contract/errors.ts";
import {
  differencesInWords,
  differingFields,
  INSTEAD_OF_OTHER_CONTENT,
  otherContent,
  type SaleContent,
} from "../contract/sale-content.ts";
import { SEARCH_ATTRIBUTES } from "../contract/names.ts";
import { InvalidInputError } from "../contract/schema/parse-input.ts";
import { UnknownBusinessError } from "../contract/connection.ts";
import { waitedFor } from "./bound.ts";
import { GRPC, type GrpcError, grpcErrorsOf, grpcInWords, grpcName } from "./grpc.ts";

/** The number belongs to a sale, or a refund, with other content. Nothing was started. */
export class SaleConflictError extends FiscalflowError {
  override readonly name = "SaleConflictError";
  override readonly code = "Conflict";
  /**
   * The fields in which the contents differ, such as `lines[1].quantity`; empty where the known content is not kept.
   */
  readonly fields: readonly string[];

  constructor(message: string, fields: readonly string[] = []) {
    super(message);
    this.fields = fields;
  }

  /** @param known the content of the number's first sale; undefined where only its fingerprint is known */
  static between(invoice: string, known: SaleContent | undefined, asked: SaleContent): SaleConflictError {
    if (!known) return SaleConflictError.ofOtherContent(invoice);
    const words = differencesInWords(known, asked).join("; ");
    return new SaleConflictError(
      `The number ${invoice} belongs to another sale. What differs: ${words}. Nothing was started. ${INSTEAD_OF_OTHER_CONTENT}`,
      differingFields(known, asked),
    );
  }

  static ofOtherContent(invoice: string): SaleConflictError {
    return new SaleConflictError(otherContent(invoice));
  }
}

const CHECK_THE_KEY = "Check the invoice number, the connection and the business.";

/**
 * There is no sale with this number that Temporal knows; where it says so, the ledger does not either.
 */
export class SaleNotFoundError extends FiscalflowError {
  override readonly name = "SaleNotFoundError";
  override readonly code = "NotFound";
  /** Where the ledger knows the number as a credit note's: the number of the sale that it reverses. */
  readonly creditNoteOf?: string;

  constructor(workflowId: string, message = `There is no workflow ${workflowId}. ${CHECK_THE_KEY}`) {
    super(message);
  }

  static ofId(workflowId: string): SaleNotFoundError {
    return new SaleNotFoundError(workflowId, `There is no workflow ${workflowId}. Check the workflow id.`);
  }

  static ofWorkflow(message: string): SaleNotFoundError {
    return new SaleNotFoundError("", message);
  }

  static inLedger(workflowId: string): SaleNotFoundError {
    const nowhere = `There is no workflow ${workflowId}, and the ledger has no sale of that number.`;
    return new SaleNotFoundError(workflowId, `${nowhere} ${CHECK_THE_KEY}`);
  }

  static creditNote(workflowId: string, number: string, creditNoteOf: string): SaleNotFoundError {
    const message = `${number} is the number of a credit note, of the sale ${creditNoteOf}. Give the sale's number.`;
    return Object.assign(new SaleNotFoundError(workflowId, message), { creditNoteOf });
  }
}

/** The workflow's present stage does not allow what was asked for. Nothing was changed. */
export class NotAllowedError extends FiscalflowError {
  override readonly name = "NotAllowedError";
  override readonly code = "NotAllowed";
  /**
   * The updates that the stage allows: of a closed sale `refund`, where it can still be refunded, and `restart`, where
   * nothing else carries it on. Empty where none is, or where the workflow has no such update at all, which the message
   * says.
   */
  readonly allowed: readonly string[];
  /** What is wrong with the request's own form, a line for each field; empty where that is right. */
  readonly problems: readonly string[];

  constructor(message: string, problems: readonly string[] = [], allowed: readonly string[] = []) {
    super(message);
    this.problems = problems;
    this.allowed = allowed;
  }
}

/**
 * The workflow failed at what was asked, for a reason that no other error names. One that ended without an outcome is
 * no error: its outcome says so (`closed`). Only callers of the Nexus service get this error.
 */
export class SaleFailedError extends FiscalflowError {
  override readonly name = "SaleFailedError";
  override readonly code = "Failed";
}

/** No workflow of the sale is open, and the database that would know it does not answer. */
export class LedgerAwayError extends FiscalflowError {
  override readonly name = "LedgerAwayError";
  override readonly code = FAILURES.ledgerAway;

  constructor(workflowId: string, cause: Error) {
    super(
      `No workflow ${workflowId} is open, and the ledger cannot be asked for the sale. Nothing was changed. Ask again once the ledger is back. ${cause.message}`,
      { cause },
    );
  }
}

/** Temporal cannot be reached, or did not answer in time. */
export class TemporalUnavailableError extends FiscalflowError {
  override readonly name = "TemporalUnavailableError";
  override readonly code = "TemporalUnavailable";

  constructor(grpcError: GrpcError, cause: unknown) {
    super(
      `${away()} It is not known whether it took the request. Ask again for the same: nothing is done twice. (${lastWord(grpcError)})`,
      { cause },
    );
  }
}

/**
 * The same of a port that refuses as of a server that is silent: which of them gRPC names, depends on the moment at
 * which the time is up.
 */
function away(): string {
  const { seconds, address } = waitedFor() ?? {};
  const who = address === undefined ? "Temporal" : `Temporal at ${address}`;
  return `${who} cannot be reached: no answer ${seconds === undefined ? "in time" : `within ${seconds} s`}.`;
}

/** What it says of time is about its last attempt alone, which may have had none left. */
function lastWord(grpcError: GrpcError): string {
  return grpcError.code === GRPC.UNAVAILABLE ? grpcInWords(grpcError) : grpcName(grpcError);
}

/** Temporal answered, and refused the call: the namespace, its search attributes, or what the caller may do. */
export class TemporalRefusedError extends FiscalflowError {
  override readonly name = "TemporalRefusedError";
  override readonly code = "TemporalRefused";

  constructor(details: string, cause: unknown) {
    super(`Temporal refuses: ${details}${whatToDo(details)}`, { cause });
  }
}

function whatToDo(details: string): string {
  if (Object.values(SEARCH_ATTRIBUTES).some((name) => details.includes(name)))
    return ". Run `fiscalflow setup`, which adds the search attributes that the namespace lacks; or check that the namespace is the right one.";
  if (/namespace.* not found/i.test(details))
    return ". Nothing was started. Check the namespace and the address that the client has (TEMPORAL_NAMESPACE, TEMPORAL_ADDRESS).";
  // What gRPC makes of an answer that is not gRPC's, such as that of a web server or a proxy.
  if (/HTTP status code/.test(details))
    return ". What answers there is not Temporal, or a proxy before it: check the address that the client has (TEMPORAL_ADDRESS).";
  return "";
}

/** As Temporal's SDK refuses an update for which a workflow has no handler. */
const NO_HANDLER = /^No registered handler for update: (.+)$/;

/** A failure out of a workflow as the error that a caller expects. */
export function workflowError(cause: unknown): Error {
  if (!(cause instanceof ApplicationFailure)) {
    return new SaleFailedError(cause instanceof Error ? cause.message : String(cause), { cause });
  }
  const [, lacking] = NO_HANDLER.exec(cause.message) ?? [];
  if (lacking !== undefined)
    return new NotAllowedError(
      `This workflow has no update ${lacking}, at any stage. Nothing was changed. \`listAttention\` names the updates that resolve an attention.`,
    );
  if (cause.type === FAILURES.notFound) return SaleNotFoundError.ofWorkflow(cause.message);
  if (cause.type === FAILURES.notAllowed)
    return new NotAllowedError(cause.message, [], detailsOf<RefusalDetails>(cause).allowed);
  if (cause.type === FAILURES.conflict)
    return new SaleConflictError(cause.message, detailsOf<ConflictDetails>(cause).fields);
  if (cause.type === FAILURES.invalidInput) {
    const { what = "input", problems = [cause.message] } = detailsOf<InvalidInputDetails>(cause);
    return new InvalidInputError(what, problems);
  }
  if (cause.type === FAILURES.unknownBusiness)
    return new UnknownBusinessError(cause.message, detailsOf<UnknownBusinessDetails>(cause).businesses ?? []);
  return new SaleFailedError(cause.message, { cause });
}

function detailsOf<T>({ details }: ApplicationFailure): Partial<T> {
  const [first] = (details ?? []) as (Partial<T> | null | undefined)[];
  return first ?? {};
}

/**
 * What gRPC says where the caller itself gave up, by an abort signal. The server's own word for a passed deadline is
 * another.
 */
export const BY_CALLER = "Cancelled on client";

const AWAY: readonly number[] = [GRPC.CANCELLED, GRPC.DEADLINE_EXCEEDED, GRPC.UNAVAILABLE];

/**
 * What Temporal's client has thrown as the error that a caller expects. As it is: what the caller itself has ended by
 * an abort signal, and what is no answer of Temporal's.
 */
export function temporalError(error: unknown): unknown {
  if (error instanceof FiscalflowError) return error;
  if (error instanceof NamespaceNotFoundError) return new TemporalRefusedError(error.message, error);
  const [grpcError] = grpcErrorsOf(error);
  if (!grpcError || grpcError.details === BY_CALLER) return error;
  return AWAY.includes(grpcError.code)
    ? new TemporalUnavailableError(grpcError, error)
    : new TemporalRefusedError(grpcError.details, error);
}
