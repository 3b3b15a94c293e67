import { Context } from "@temporalio/activity";
import { ApplicationFailure } from "@temporalio/common";

import {
  type ConnectionProfile,
  type CreditNoteInput,
  creditNoteWorkflowId,
  DEFAULT_CONNECTION,
  differencesInWords,
  doubtsOf,
  FAILURES,
  fingerprintOf,
  type FinishedSale,
  type MainActivities,
  nairobiDate,
  NO_BUSINESS,
  type PreparedCreditNote,
  requireServed,
  saleContent,
  type SaleContent,
  type SaleInput,
  saleWorkflowId,
  type UnknownBusinessDetails,
  UnknownBusinessError,
} from "../../src/contract/index.ts";
import {
  creditNoteInputSchema,
  durationMs,
  InvalidInputError,
  parseInput,
  saleInputSchema,
} from "../../src/contract/schema/index.ts";
import { type KeptSale, type Ledger, LedgerUnavailableError } from "../../src/ledger/index.ts";
import type { ComplianceRuntime } from "../compliance/calls.ts";
import { currentWriter } from "../ledger/beside-calls.ts";
import { checkInput, checkReturnDate, invalid } from "./check-input.ts";
import { conflict, earlierNote, earlierRun, finishedOf, isFinished } from "./earlier-run.ts";

/** The part of a connection that workflows get. */
export type Served = Pick<ComplianceRuntime, "profile" | "businessWeights" | "servedBusinesses" | "inputChecks">;

/**
 * The first activities of a sale and of a credit note. They check the input with the schema that the starter uses, and
 * find its connection. If either is wrong the workflow fails at once, with all problems in one message: otherwise it
 * might wait for ever on a task queue that no worker polls.
 */
export function createPrepareActivities(
  connections: ReadonlyMap<string, Served>,
  ledger: Pick<Ledger, "records" | "documents">,
) {
  return {
    prepareSale: async ({ input, startedAtMs, reset = false }) => {
      const { content, checked, ...prepared } = failOnInvalidInput(() => {
        const { profile, sale } = checkedSale(connections, input);
        const { lines: _lines, ...rest } = sale;
        const window = sale.refundWindow;
        const content = saleContent(sale, profile.businessId);
        const checks = connections.get(profile.connection)?.inputChecks;
        return {
          profile,
          sale: { ...rest, saleDate: sale.saleDate ?? nairobiDate(startedAtMs) },
          content,
          checked: checks && { doubts: doubtsOf(sale, checks, startedAtMs), mode: checks.mode },
          fingerprint: fingerprintOf(content),
          ...(checks?.mode === "refuse" && { refundChecks: checks }),
          refundWindowMs: (window === undefined ? undefined : durationMs(window)) ?? profile.timings.refundWindowMs,
        };
      });
      const { connection, businessId } = prepared.profile;
      const { traderInvoiceNumber } = content;
      requireOwnId("sale input", saleWorkflowId({ connection, businessId, traderInvoiceNumber }), businessId);
      const kept = await keptOf(ledger, prepared.profile, content);
      // What an attempt of this run has opened is not finished.
      const finished = reset || !kept || isOfThisRun(kept) ? undefined : finishedSale(kept);
      const earlier = finished ? undefined : await earlierRun(ledger, kept, prepared.fingerprint, reset);
      // A run that carries on another one may have sent it already.
      if (checked && checked.doubts.length > 0 && !finished && !reset)
        await checkInput(ledger, prepared.profile, content, checked);
      if (!finished) {
        const { fingerprint, sale } = prepared;
        const of = { type: "sale" as const, number: traderInvoiceNumber };
        const asked = {
          stage: "resolving-items" as const,
          startedAtMs,
          date: sale.saleDate,
          fingerprint,
          content,
          expectedTotal: sale.expectedTotal,
        };
        await ledger.records.open(prepared.profile, { ...of, ...asked }, openedBy());
      }
      return { ...prepared, ...(finished && { finished }), ...(earlier && { earlier }) };
    },

    prepareCreditNote: async ({ input, startedAtMs, reset = false }) => {
      const prepared = failOnInvalidInput(() => checkedCreditNote(connections, input, startedAtMs));
      const { connection, businessId } = prepared.profile;
      const ownId = creditNoteWorkflowId({ connection, businessId, saleId: prepared.note.saleId });
      requireOwnId("credit note input", ownId, businessId);
      const checks = connections.get(prepared.profile.connection)?.inputChecks;
      if (checks) await checkReturnDate(ledger, prepared, checks, startedAtMs);
      const earlier = await earlierNote(ledger, prepared, reset);
      const {
        saleId: originalSaleId,
        traderInvoiceNumber: number,
        returnDate: date,
        reason,
        restock,
        branch,
      } = prepared.note;
      const refund = { traderInvoiceNumber: number, reason, returnDate: date, restock, branch };
      const of = { type: "credit_note" as const, number, originalSaleId };
      const asked = { stage: "submitting" as const, startedAtMs, date, refund };
      await ledger.records.open(prepared.profile, { ...of, ...asked }, openedBy());
      return { ...prepared, ...(earlier && { earlier }) };
    },
  } satisfies Partial<MainActivities>;
}

/** @throws InvalidInputError */
export function checkedSale(
  connections: ReadonlyMap<string, Served>,
  input: SaleInput,
): { profile: ConnectionProfile; sale: SaleInput } {
  const sale = parseInput(saleInputSchema, input, "sale input");
  return { sale, profile: profileFor(connections, sale, "sale input") };
}

/** @throws InvalidInputError */
export function checkedCreditNote(
  connections: ReadonlyMap<string, Served>,
  input: CreditNoteInput,
  startedAtMs: number,
): PreparedCreditNote {
  const note = parseInput(creditNoteInputSchema, input, "credit note input");
  const profile = profileFor(connections, note, "credit note input");
  return { profile, note: { ...note, returnDate: note.returnDate ?? nairobiDate(startedAtMs) } };
}

/**
 * The connection that the input names, working for the business that the input names.
 * @throws InvalidInputError; UnknownBusinessError where it does not work for that one
 */
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

/**
 * As {@link profileFor}, for a look-up in the ledger: it sends nothing, and the records of a business that is no longer
 * served can still be read.
 */
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
  const { profile, businessWeights } = served;
  const businessId = input.businessId ?? profile.businessId;
  if (profile.keyReach === "organisation" && businessId === undefined) {
    const expected = `expected a business, since the key of connection "${name}" is organisation-wide and has no default`;
    throw new InvalidInputError(what, [`businessId: ${expected}, found nothing`]);
  }
  if (businessId === undefined) return profile;
  const businessWeight = businessWeights[businessId];
  return { ...profile, businessId, ...(businessWeight !== undefined && { businessWeight }) };
}

function nameBusiness(businessId: string): string {
  return `Name the business "${businessId}": as businessId in the input, or in the option businesses of createStarter`;
}

/**
 * Of a look-up: who does not name the business asks for a workflow id that no sale of it has, and would take what the
 * ledger says for the answer of that.
 * @throws InvalidInputError
 */
export function requireBusiness(what: string, asked: string | undefined, works: string | undefined): void {
  if (asked === undefined && works !== undefined)
    throw new InvalidInputError(what, [`businessId: expected a business, found nothing. ${nameBusiness(works)}`]);
}

/**
 * One number is one sale because it has one workflow id. Under another id it would have another claim and another key,
 * and could become a second document. Asked first: a run that is refused for it has written nothing.
 * @param expected the id that the starter makes of the input, with the business that the connection works for
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

/** Of a look-up for which somebody waits: it is not tried again until the ledger is there. */
export function failOnLedgerAway(error: unknown): unknown {
  return error instanceof LedgerUnavailableError
    ? ApplicationFailure.nonRetryable(error.message, FAILURES.ledgerAway)
    : error;
}

/**
 * What the ledger has of the number.
 * @throws ApplicationFailure Conflict, where the number belongs to a sale with other content; LedgerUnavailableError: it
 * is asked again, and nothing is sent meanwhile
 */
async function keptOf(
  { records }: Pick<Ledger, "records">,
  { connection, businessId }: ConnectionProfile,
  content: SaleContent,
): Promise<KeptSale | undefined> {
  const number = content.traderInvoiceNumber;
  const kept = await records.findSale({ connection, businessId }, number);
  if (!kept) return undefined;
  const { record } = kept;
  // Opened by another attempt of this very run.
  if (!record.document && !record.numberTaken) return isOfThisRun(kept) ? undefined : kept;
  const words = record.content ? differencesInWords(record.content, content) : [];
  if (words.length > 0) throw conflict(number, words, kept);
  return kept;
}

function isOfThisRun({ writer }: KeptSale): boolean {
  return writer.runId === currentWriter().runId;
}

/** Which run opens a row, and since when it wants to. */
function openedBy() {
  return { writer: currentWriter(), askedAtMs: Context.current().info.scheduledTimestampMs };
}

/** The outcome of the sale, if nothing is left to be done. */
function finishedSale(kept: KeptSale): FinishedSale | undefined {
  const { record } = kept;
  return (record.document || record.numberTaken) && isFinished(kept) ? finishedOf(kept) : undefined;
}
