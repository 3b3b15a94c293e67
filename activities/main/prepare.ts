import { Context, log } from "@temporalio/activity";
import { ApplicationFailure } from "@temporalio/common";

import {
  asAnswered,
  bounded,
  type ConflictDetails,
  type ConnectionProfile,
  type DatedRefund,
  DEFAULT_CONNECTION,
  differencesInWords,
  differingFields,
  doubtsOf,
  type EarlierRun,
  FAILURES,
  fingerprintOf,
  type FinishedSale,
  type InputChecks,
  INSTEAD_OF_OTHER_CONTENT,
  type InvalidInputDetails,
  invalidInputInWords,
  isCustomerErased,
  isRefusedStatus,
  type MainActivities,
  nairobiDate,
  NO_BUSINESS,
  OWN_NUMBER,
  type Refund,
  refundDoubtsOf,
  replacementProblem,
  requireServed,
  saleContent,
  type SaleContent,
  type SaleFields,
  saleOfContent,
  type SaleStart,
  saleWorkflowId,
  type UnknownBusinessDetails,
  UnknownBusinessError,
  withLinesThatFit,
  withoutValues,
} from "../../src/contract/index.ts";
import { durationMs, InvalidInputError, parseInput } from "../../src/contract/schema/parse-input.ts";
import { saleStartSchema } from "../../src/contract/schema/sale.ts";
import {
  isThrough,
  type KeptSale,
  type Ledger,
  type OpenedBefore,
  type OpenedRecord,
  refundUnderWay,
} from "../../src/ledger/index.ts";
import type { ComplianceRuntime } from "../compliance/calls.ts";
import { currentWriter, scheduledAtMs } from "../classified-call.ts";
import { isSent } from "../ledger.ts";

/** The part of a connection that workflows get. */
export type Served = Pick<ComplianceRuntime, "profile" | "servedBusinesses" | "inputChecks">;

/**
 * The first activity of a sale: checks the input as the starter does, finds its connection, and opens the sale's row,
 * or gives back what that knows. What is wrong fails the workflow at once: it would wait for ever on a queue that no
 * worker polls.
 */
export function createPrepareActivities(connections: ReadonlyMap<string, Served>, ledger: Pick<Ledger, "documents">) {
  return {
    prepareSale: async ({ input, startedAtMs, reset = false, isReset = false, sent = false }) => {
      const { profile, start } = failOnInvalidInput(() => checkedStart(connections, input));
      const { connection, businessId } = profile;
      const { traderInvoiceNumber } = start;
      requireOwnId("sale input", saleWorkflowId({ connection, businessId, traderInvoiceNumber }), businessId);
      const business = { connection, businessId };
      const isWhole = start.lines !== undefined || start.saleId !== undefined;
      const checks = connections.get(connection)?.inputChecks;
      const lookedAt = (sale: SaleFields) => {
        const content = saleContent(sale, businessId);
        const doubts = checks ? doubtsOf(sale, checks, startedAtMs) : [];
        return { sale, content, fingerprint: fingerprintOf(content), doubts };
      };
      const whole = isWhole ? lookedAt(start) : undefined;
      // A number that nobody has costs one statement.
      const isNew =
        whole?.doubts.length === 0 &&
        !reset &&
        (await ledger.documents.openNew(business, rowOf(whole, startedAtMs), openedBy()));
      const known = isNew ? undefined : await ledger.documents.findSale(business, traderInvoiceNumber);
      const { sale, content, fingerprint, doubts } = whole ?? lookedAt(asKept(start, known));
      const kept = keptOf(known, content);
      // What an attempt of this run has opened is not finished.
      const isFinished = !reset && kept && !isOfThisRun(kept) && isSpokenFor(kept) && isThrough(kept);
      const finished = isFinished ? finishedOf(kept) : undefined;
      // The ledger has lost what the run before has done: its row was there before anything was sent.
      const inDoubt = known === undefined && start.saleId === undefined && (isReset || sent);
      const earlier = inDoubt
        ? { sent: true, signed: false }
        : finished
          ? undefined
          : earlierRun(
              kept,
              known?.isClaimed === true,
              kept !== undefined && isOfContent(kept, content, fingerprint),
              reset,
            );
      // A run that carries on another one may have sent it already.
      if (checks && doubts.length > 0 && !finished && !reset)
        checkInput(traderInvoiceNumber, known, { doubts, checks });
      const isCarriedOn = !isWhole && known && !isReserved(known);
      const date = sale.saleDate ?? (isCarriedOn ? known.record.date : undefined) ?? nairobiDate(startedAtMs);
      if (!isNew && !finished)
        await ledger.documents.open(
          business,
          rowOf({ sale: { ...sale, saleDate: date }, content, fingerprint }, startedAtMs),
          { ...openedBy(), inDoubt },
        );
      const { lines, ...fields } = sale;
      const window = sale.refundWindow;
      return {
        profile,
        sale: { ...fields, saleDate: date, ...(!start.lines && lines && { lines }) },
        fingerprint,
        ...(checks === "refuse" && { refundChecks: checks }),
        refundWindowMs: (window === undefined ? undefined : durationMs(window)) ?? profile.timings.refundWindowMs,
        ...(finished && { finished }),
        ...(earlier && { earlier }),
        ...(isReset && { isReset }),
      };
    },

    openCreditNote: async ({ connection, businessId, saleId, saleDate, refund, reset }) => {
      const { traderInvoiceNumber: number, returnDate: date } = refund;
      const { writer, askedAtMs } = openedBy();
      const checks = connections.get(connection)?.inputChecks;
      const doubts = checks ? refundDoubtsOf(refund, checks, askedAtMs, saleDate) : [];
      // What was to be refused was, before the refund was accepted.
      if (doubts.length > 0)
        log.warn(`The credit note ${number} looks wrong, and goes on: ${withoutValues(doubts).join("; ")}`);
      const of = { type: "credit_note" as const, number, originalSaleId: saleId };
      const asked = { stage: "submitting" as const, startedAtMs: askedAtMs, date, refund };
      const business = { connection, businessId };
      const decided = await ledger.documents.decisionsOf(business, of, writer.workflowId);
      const { decisions } = bounded({ movements: [], attentions: [], decisions: decided });
      const claim = await ledger.documents.read({ ...business, of });
      const opening = { writer, askedAtMs, keepsCancelled: reset };
      const before = await ledger.documents.open(business, { ...of, ...asked }, opening);
      const isGivenUp = before?.stage === "cancelled";
      const cancelRequested = isGivenUp ? undefined : before?.cancelRequested;
      const isKnown = claim !== undefined || decided.length > 0;
      const otherRefund = isSent(claim) ? otherRefundOf(before, refund) : undefined;
      return {
        sent: isSent(claim),
        ...(decisions.length > 0 && { decisions }),
        ...(isKnown && { otherRun: true as const }),
        ...(reset && isGivenUp && { givenUp: true as const }),
        ...(cancelRequested !== undefined && { cancelRequested }),
        ...(otherRefund && { otherRefund }),
      };
    },
  } satisfies Partial<MainActivities>;
}

/**
 * The refund for which a credit note was sent already, if not this one: after a reset, Temporal gives again what was
 * given up, and each corrected sale that a refund names would be issued.
 */
function otherRefundOf(before: OpenedBefore | undefined, { replacedBy }: DatedRefund): Refund | undefined {
  const { document, refund } = before ?? {};
  return isRefusedStatus(document?.status) || refund?.replacedBy?.fingerprint === replacedBy?.fingerprint
    ? undefined
    : refund;
}

/** @throws InvalidInputError */
function checkedStart(
  connections: ReadonlyMap<string, Served>,
  input: SaleStart,
): { profile: ConnectionProfile; start: SaleFields } {
  const { refund, ...start } = parseInput(saleStartSchema, input, "sale input");
  const { traderInvoiceNumber: number } = start;
  const problem = refund?.traderInvoiceNumber === number ? OWN_NUMBER : refund && replacementProblem(refund, number);
  if (problem !== undefined) throw new InvalidInputError("sale input", [`refund.${problem}`]);
  return { start, profile: profileFor(connections, start, "sale input") };
}

/**
 * For an input that names nothing but its number.
 * @throws ApplicationFailure NotFound, also if what was asked for was refused
 */
function asKept(start: SaleFields, kept: KeptSale | undefined): SaleFields {
  const { traderInvoiceNumber: number, connection } = start;
  const { content, options, expectedTotal, failed } = kept?.record ?? {};
  if (!content || failed) {
    const message = `The ledger has no sale ${number}, and its input has neither lines nor saleId: nothing can be issued, adopted or refunded.`;
    throw ApplicationFailure.nonRetryable(message, FAILURES.notFound);
  }
  if (kept && !isSpokenFor(kept) && isCustomerErased(content)) {
    const message = `Nothing was sent of the sale ${number}, and its customer was erased from the ledger: start it with all that it has.`;
    throw ApplicationFailure.nonRetryable(message, FAILURES.notFound);
  }
  return {
    ...saleOfContent(content),
    ...options,
    ...(expectedTotal !== undefined && { expectedTotal }),
    ...(connection !== undefined && { connection }),
  };
}

/** @throws InvalidInputError; UnknownBusinessError if the connection does not work for the business */
export function profileFor(
  connections: ReadonlyMap<string, Served>,
  input: { connection?: string | undefined; businessId?: string | undefined },
  what: string,
): ConnectionProfile {
  const profile = lookUpProfileFor(connections, input, what);
  const { connection, businessId } = profile;
  const served = connections.get(connection)?.servedBusinesses;
  if (served !== undefined && businessId !== undefined) requireServed(served, businessId, connection);
  return profile;
}

/** For a look-up: the records of a business that is no longer served can still be read. */
export function lookUpProfileFor(
  connections: ReadonlyMap<string, Served>,
  input: { connection?: string | undefined; businessId?: string | undefined },
  what: string,
): ConnectionProfile {
  const name = input.connection ?? DEFAULT_CONNECTION;
  const served = connections.get(name);
  if (!served) {
    const known = [...connections.keys()].map((one) => `"${one}"`).join(", ") || "none";
    throw new InvalidInputError(what, [`connection: expected a configured connection (${known}), found "${name}"`]);
  }
  const { profile } = served;
  const businessId = input.businessId ?? profile.businessId;
  if (profile.keyReach === "organisation" && businessId === undefined) {
    const expected = `expected a business, since the key of connection "${name}" is organisation-wide and has no default`;
    throw new InvalidInputError(what, [`businessId: ${expected}, found nothing`]);
  }
  return { ...profile, ...(businessId !== undefined && { businessId }) };
}

function nameBusiness(businessId: string): string {
  return `Name the business "${businessId}": as businessId in the input, or in the option businesses of createStarter`;
}

/**
 * Of a look-up: without the business, the caller's workflow id is that of no sale.
 * @throws InvalidInputError
 */
export function requireBusiness(what: string, asked: string | undefined, works: string | undefined): void {
  if (asked === undefined && works !== undefined)
    throw new InvalidInputError(what, [`businessId: expected a business, found nothing. ${nameBusiness(works)}`]);
}

/**
 * Under another id the number would have another claim and another key, and could become a second document. Asked
 * first: a run that is refused for it has written nothing.
 * @throws ApplicationFailure InvalidInput
 */
function requireOwnId(what: string, expected: string, businessId: string | undefined): void {
  const workflowId = Context.current().info.workflowExecution?.workflowId;
  if (workflowId === expected) return;
  const hint =
    workflowId?.split("/")[2] === NO_BUSINESS && businessId !== undefined ? `. ${nameBusiness(businessId)}` : "";
  throw invalid(what, [`workflow id: expected "${expected}", found "${workflowId ?? ""}"${hint}`]);
}

export function failOnInvalidInput<T>(act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (error instanceof InvalidInputError) throw invalid(error.what, error.problems);
    if (error instanceof UnknownBusinessError) {
      const details: UnknownBusinessDetails = { businesses: error.businesses };
      throw ApplicationFailure.nonRetryable(error.message, FAILURES.unknownBusiness, details);
    }
    throw error;
  }
}

/** @throws ApplicationFailure Conflict, if the number belongs to a sale with other content */
function keptOf(kept: KeptSale | undefined, content: SaleContent): KeptSale | undefined {
  if (!kept) return undefined;
  const isHeld = isReserved(kept);
  if (!isHeld && !isSpokenFor(kept)) return isOfThisRun(kept) ? undefined : kept;
  const known = kept.record.content;
  if (known && differingFields(known, content).length > 0) throw conflict(known, content, kept);
  return isHeld ? undefined : kept;
}

/** A number that was given up before anything was sent is free again. */
function isSpokenFor({ record }: KeptSale): boolean {
  return record.document !== null || record.numberTaken;
}

/** For the corrected sale of another one, whose run has written the row: nothing of this sale has begun. */
function isReserved({ record, writer }: KeptSale): boolean {
  const isOfOther = writer.workflowId !== currentWriter().workflowId;
  return record.replaces !== undefined && record.stage !== "cancelled" && isOfOther;
}

function isOfThisRun({ writer }: KeptSale): boolean {
  return writer.runId === currentWriter().runId;
}

/** The row of a sale that nothing was sent for. */
export function rowOf(
  {
    sale: { traderInvoiceNumber: number, saleDate, expectedTotal, stock, callback, refundWindow },
    content,
    fingerprint,
  }: { sale: Omit<SaleFields, "saleId">; content: SaleContent; fingerprint: string },
  startedAtMs: number,
): OpenedRecord {
  return {
    type: "sale",
    number,
    stage: "resolving-items",
    startedAtMs,
    date: saleDate ?? nairobiDate(startedAtMs),
    fingerprint,
    content,
    options: { stock, callback, refundWindow },
    expectedTotal,
  };
}

/** Which run opens a row, and since when it wants to. */
function openedBy() {
  return { writer: currentWriter(), askedAtMs: scheduledAtMs() };
}

/** Whether the row is that of a sale with this content, of whose customer something may have been erased. */
function isOfContent({ record }: KeptSale, content: SaleContent, fingerprint: string): boolean {
  if (record.fingerprint === fingerprint) return true;
  const { content: known } = record;
  return known !== undefined && isCustomerErased(known) && differencesInWords(known, content).length === 0;
}

/**
 * What this run carries on. Nothing may be cancelled, and no refund forgotten, before this is known.
 * @param reset the run knows that it carries on another one
 */
function earlierRun(
  kept: KeptSale | undefined,
  isClaimed: boolean,
  isSame: boolean,
  reset: boolean,
): EarlierRun | undefined {
  const record = isSame ? kept?.record : undefined;
  if (!reset && !record && !isClaimed) return undefined;
  const isSent = kept?.isSent === true || Boolean(record?.document);
  const earlier = { sent: isSent, signed: record?.document?.status === "completed" };
  if (!kept || !record) return earlier;
  const { decisions } = bounded({ movements: [], attentions: [], decisions: kept.decisions });
  const refund = refundUnderWay(kept);
  const document = asAnswered(record.document);
  const cancelRequested = record.stage === "cancelled" ? undefined : record.cancelRequested;
  const { creditNoteCancelRequested } = record;
  return {
    ...earlier,
    ...(document && { document }),
    ...(decisions.length > 0 && { decisions }),
    ...(cancelRequested !== undefined && { cancelRequested }),
    ...(refund && { refund }),
    ...(refund && creditNoteCancelRequested !== undefined && { creditNoteCancelRequested }),
  };
}

export function finishedOf({ record, creditNote }: Pick<KeptSale, "record" | "creditNote">): FinishedSale {
  const { stage, refund } = record;
  const { movements, inAll } = bounded({ movements: record.movements, attentions: [], decisions: [] });
  const { correction } = record;
  const about = { ...(inAll && { inAll }), ...(correction && { correction }) };
  const finished = { stage, document: record.document && withLinesThatFit(record.document), movements, ...about };
  const note = creditNote?.record.document;
  if (note?.status !== "completed") return { ...finished, creditNote: null, ...(stage === "credited" && { refund }) };
  return { ...finished, stage: "credited", creditNote: asAnswered(note), refund: refund ?? creditNote?.record.refund };
}

function conflict(known: SaleContent, asked: SaleContent, { record, writer }: KeptSale): ApplicationFailure {
  const was = record.document
    ? `the document ${record.document.id} is ${record.document.status}`
    : `stage ${record.stage}`;
  return ApplicationFailure.nonRetryable(
    `The number ${asked.traderInvoiceNumber} belongs to another sale. What differs: ${differencesInWords(known, asked).join("; ")}. In the ledger: ${was}, kept by ${writer.workflowId}, run ${writer.runId}. Nothing was sent. ${INSTEAD_OF_OTHER_CONTENT}`,
    FAILURES.conflict,
    { fields: differingFields(known, asked) } satisfies ConflictDetails,
  );
}

/**
 * Refuses a sale that looks wrong, or warns of it in the log; what was sent goes on.
 * @throws ApplicationFailure InvalidInput
 */
export function checkInput(
  number: string,
  known: KeptSale | undefined,
  { doubts, checks }: { doubts: readonly string[]; checks: InputChecks },
): void {
  const { document, numberTaken, replaces } = known?.record ?? {};
  // A corrected sale was looked at before the sale was credited that it replaces.
  const isKnown = document || numberTaken || replaces !== undefined;
  if (checks === "refuse" && !isKnown) throw invalid("sale input", doubts);
  log.warn(`The sale ${number} looks wrong, and goes on: ${withoutValues(doubts).join("; ")}`);
}

function invalid(what: string, problems: readonly string[]): ApplicationFailure {
  const details: InvalidInputDetails = { what, problems };
  return ApplicationFailure.nonRetryable(invalidInputInWords(details), FAILURES.invalidInput, details);
}
