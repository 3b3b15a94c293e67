import { ApplicationFailure, isGrpcServiceError, NamespaceNotFoundError } from "@temporalio/client";
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
import { MAIN_TASK_QUEUE, SEARCH_ATTRIBUTES } from "../contract/names.ts";
import { InvalidInputError } from "../contract/schema/parse-input.ts";
import { UnknownBusinessError } from "../contract/connection.ts";
import { waitedFor } from "./bound.ts";
import { plainLine } from "../contract/plain-text.ts";

/** The status codes of gRPC that mean something to callers. */
export const GRPC = {
  CANCELLED: 1,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  FAILED_PRECONDITION: 9,
  UNAVAILABLE: 14,
} as const;

const NAMES = new Map<number, string>(Object.entries(GRPC).map(([name, code]) => [code, name]));

export interface GrpcError {
  code: number;
  details: string;
}

export function grpcErrorsOf(error: unknown): GrpcError[] {
  return [error, error instanceof Error ? error.cause : undefined].filter((one) => isGrpcServiceError(one));
}

export function grpcName({ code }: GrpcError): string {
  return ["gRPC", code, NAMES.get(code)].join(" ").trimEnd();
}

export function grpcInWords(error: GrpcError): string {
  return `${grpcName(error)}: ${error.details}`;
}

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

export class SaleNotFoundError extends FiscalflowError {
  override readonly name = "SaleNotFoundError";
  override readonly code = "NotFound";
  /** Where the ledger knows the number as a credit note's: the number of the sale that it reverses. */
  readonly creditNoteOf?: string;

  constructor(message: string, creditNoteOf?: string) {
    super(message);
    if (creditNoteOf !== undefined) this.creditNoteOf = creditNoteOf;
  }

  /** @param where who knows no such sale: Temporal alone, or the ledger too */
  static of(workflowId: string, where: "Temporal" | "ledger" = "Temporal"): SaleNotFoundError {
    const nowhere = where === "ledger" ? ", and the ledger has no sale of that number" : "";
    const todo = "Check the invoice number, the connection and the business, of which its id is made.";
    return new SaleNotFoundError(`There is no workflow ${workflowId}${nowhere}. ${todo}`);
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

/** The sale names a connection that nobody has configured; nothing was started. */
export class UnknownConnectionError extends FiscalflowError {
  override readonly name = "UnknownConnectionError";
  override readonly code = "UnknownConnection";
  readonly connections: readonly string[];

  constructor(connection: string, connections: readonly string[]) {
    const known =
      connections.length === 0
        ? "No connection is configured: set COMPLIANCE_BASE_URL and COMPLIANCE_API_KEY, or FISCALFLOW_CONFIG, as for the worker."
        : `Configured: ${connections.join(", ")}.`;
    super(`The connection "${connection}" is not configured here, so nothing was done. ${known}`);
    this.connections = connections;
  }
}

/** The cursor is of another business, or the ledger was restored since: read from the first event, and compare. */
export class CursorLostError extends FiscalflowError {
  override readonly name = "CursorLostError";
  override readonly code = FAILURES.cursorLost;
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

/** The same of a port that refuses as of a server that is silent: which of them gRPC names is chance. */
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

export function workflowError(cause: unknown): Error {
  if (!(cause instanceof ApplicationFailure)) {
    return new SaleFailedError(cause instanceof Error ? cause.message : String(cause), { cause });
  }
  const [, lacking] = NO_HANDLER.exec(cause.message) ?? [];
  if (lacking !== undefined)
    return new NotAllowedError(
      `This workflow has no update ${lacking}, at any stage. Nothing was changed. \`listAttention\` names the updates that resolve an attention.`,
    );
  if (cause.type === FAILURES.cursorLost) return new CursorLostError(cause.message);
  if (cause.type === FAILURES.notFound) return new SaleNotFoundError(cause.message);
  if (cause.type === FAILURES.notAllowed) {
    const { problems, allowed } = detailsOf<RefusalDetails>(cause);
    return new NotAllowedError(cause.message, problems, allowed);
  }
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

export interface Asked {
  what: string;
  /** What may have happened all the same, and what the caller does about it. */
  advice: string;
}

const asking =
  (what: (of: string) => string, advice: string) =>
  (of: string): Asked => ({ what: what(of), advice });

export const queryOf = asking(
  (workflowId) => `the query for the state of ${workflowId}`,
  "A query changes nothing; what was started before goes on as soon as a worker runs. Ask again.",
);
export const waitFor = asking(
  (workflowId) => `the wait for the outcome of ${workflowId}`,
  "The wait changes nothing; what was started before goes on as soon as a worker runs. Ask again for the same.",
);
export const startOf = asking(
  (workflowId) => `the start of ${workflowId}`,
  "The sale may have been started, and then goes on as soon as a worker runs. Start the same sale again under the same number, which is safe: it stays one sale.",
);
export const refundOf = asking(
  (workflowId) => `the update refund of ${workflowId}`,
  "The refund may have been accepted, or may still be. Ask for the same refund again under the same number, which is safe: it stays one credit note.",
);
export const answerTo = asking(
  (updateOfWorkflow) => `the update ${updateOfWorkflow}`,
  "The answer may have been accepted, or may still be. Send the same answer again, which is safe.",
);
export const questionToLedger = asking(
  (about) => `the question to the ledger ${about}`,
  "The question changes nothing. Ask again.",
);

/** Nobody answered in time. The message says what may have been started, and how to ask again. */
export class NoAnswerError extends FiscalflowError {
  override readonly name: string = "NoAnswerError";
  override readonly code: "NoAnswer" | "NoWorker" = "NoAnswer";

  constructor(message: string, cause: unknown) {
    super(message, { cause });
  }

  static to({ what, advice }: Asked, cause: unknown): NoAnswerError {
    const { seconds } = waitedFor() ?? {};
    const when = seconds === undefined ? "in time" : `within ${seconds} s`;
    const todo = "Check that `fiscalflow worker` runs on this namespace.";
    return new NoAnswerError(`No worker answered ${what} ${when}${because(cause)}. ${advice} ${todo}`, cause);
  }
}

export class NoWorkerError extends NoAnswerError {
  override readonly name = "NoWorkerError";
  override readonly code = "NoWorker";

  constructor({ what, advice }: Asked, cause: unknown) {
    const todo = "Start `fiscalflow worker` on this namespace.";
    const nobody = `No worker serves the task queue ${MAIN_TASK_QUEUE}, so nobody answers ${what}`;
    super(`${nobody}${because(cause)}. ${advice} ${todo}`, cause);
  }
}

function because(cause: unknown): string {
  const [grpcError] = grpcErrorsOf(cause);
  // Its details tell of the last try alone, which may have had no time left.
  if (grpcError?.code === GRPC.DEADLINE_EXCEEDED) return ` (${grpcName(grpcError)})`;
  if (grpcError) return ` (${grpcInWords(grpcError)})`;
  return cause instanceof Error ? ` (${cause.message})` : "";
}

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

/** A reader that is started again and again is not to fill a log. */
const warned = new Set<string>();

export function warnOnce(code: string, message: string): void {
  if (warned.has(message)) return;
  warned.add(message);
  process.emitWarning(plainLine(message), { type: "FiscalflowWarning", code });
}
