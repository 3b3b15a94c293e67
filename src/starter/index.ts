/**
 * What other services use: start a sale, wait for its outcome, refund it, answer what an operator is asked. The worker
 * and the command line read workflow runs by its `runs.ts` too. It has Temporal's client and nothing else: no database,
 * no key of an API.
 *
 * Stands on: `src/contract`, `src/contract/schema`, `src/payloads`.
 */
import type { Client } from "@temporalio/client";

import { requireServed, type ServedBusinesses } from "../contract/connection.ts";
import type { LedgerEvent } from "../contract/events.ts";
import { doubtsOf, type InputChecks } from "../contract/input-checks.ts";
import type { SaleOutcome } from "../contract/messages.ts";
import { DEFAULT_CONNECTION } from "../contract/names.ts";
import { InvalidInputError } from "../contract/schema/parse-input.ts";
import type { RefundRequest, SaleInput } from "../contract/schema/sale.ts";
import { type EventsRequest, readEvents } from "./ask-ledger.ts";
import { bounded, waitMsOf } from "./bound.ts";
import { SaleFailedError, temporalError } from "./errors.ts";
import { type AttentionFilter, listAttention, type OpenAttention } from "./list-attention.ts";
import { operations } from "./operate.ts";
import { waitForOutcome } from "./outcome.ts";
import {
  type CheckedCorrection,
  type CheckedRefund,
  correctionIn,
  type CorrectionRequest,
  type KnownCorrection,
  refundSale,
  requireReplacement,
} from "./refund.ts";
import { lastRunOf } from "./runs.ts";
import {
  requireBusiness,
  requireConnection,
  requireKey,
  requireTarget,
  saleIdOf,
  type SaleKey,
  type UpdateTarget,
} from "./sale-key.ts";
import {
  type DefaultBusinesses,
  type PlannedStart,
  saleStart,
  startAndWait,
  type StartResult,
  startSaleOnce,
} from "./start-sale.ts";
import { type KnownOutcome, type SaleState, stateOfSale } from "./state-of-sale.ts";

export type { Attention, Decision, UpdateExample } from "../contract/attention.ts";
export type { AttentionCode, Stage } from "../contract/names.ts";
export type {
  AcknowledgeRequest,
  CancelRequest,
  ResolveBatchRequest,
  ResolveDocumentRequest,
  ResolveStockRequest,
  ResolvingUpdate,
  RetryRequest,
} from "../contract/updates.ts";
export type { ClosedRun, MessageReply, SaleOutcome, WorkflowState } from "../contract/messages.ts";
export { type Correction, CORRECTION_STAGES, type CorrectionStage } from "../contract/correction.ts";
export type { Customer, LinesLeftOut, Receipt, SaleDocument, SaleDocumentLine } from "../contract/documents.ts";
export { ERROR_CODES, type ErrorCode, FiscalflowError } from "../contract/errors.ts";
export type { InputChecks } from "../contract/input-checks.ts";
export { REFUND_REASONS, type RefundReason } from "../contract/codes.ts";
export {
  type CorrectedSaleInput,
  type CustomerInput,
  type Refund,
  type RefundRequest,
  refundRequestSchema,
  type SaleInput,
  saleInputSchema,
  type SaleLineInput,
  type StockMode,
} from "../contract/schema/sale.ts";
export type { EventCorrection, EventDocument, EventOperator, LedgerEvent } from "../contract/events.ts";
export { InvalidInputError } from "../contract/schema/parse-input.ts";
export { type ServedBusinesses, UnknownBusinessError } from "../contract/connection.ts";
export type { ServiceTrouble } from "../contract/service-trouble.ts";
export type { StockMovement } from "../contract/stock-movement.ts";
export type { KnownOutcome, SaleState } from "./state-of-sale.ts";
export {
  type ClientError,
  CursorLostError,
  isFiscalflowError,
  LedgerAwayError,
  NoAnswerError,
  NotAllowedError,
  NoWorkerError,
  SaleConflictError,
  SaleFailedError,
  SaleNotFoundError,
  TemporalRefusedError,
  TemporalUnavailableError,
  UnknownConnectionError,
} from "./errors.ts";
export type { CorrectionRequest, KnownCorrection } from "./refund.ts";
export type { EventsRequest } from "./ask-ledger.ts";
export type { AttentionFilter, OpenAttention } from "./list-attention.ts";
export { createPayloadCodec } from "../payloads/codec.ts";
export type { PendingCall } from "./runs.ts";
export type { AnswerOptions, OperatorAnswer, RestartReply, RestartRequest } from "./operate.ts";
export type { SaleKey, UpdateTarget } from "./sale-key.ts";
export type { DefaultBusinesses } from "./start-sale.ts";

export interface StarterOptions {
  client: Client;
  /** The default business of each connection, as the workers know it: `{ default: "biz_1" }`. */
  businesses?: DefaultBusinesses | undefined;
  /**
   * The connections that the workers have configured: a sale or a refund through another is refused. Default: any is
   * accepted.
   */
  connections?: readonly string[] | undefined;
  /**
   * The businesses that each connection serves, as the workers have it (`COMPLIANCE_BUSINESSES`): a sale or a refund for
   * another one is refused before anything starts. Default: nothing is checked here, and the workers check alone.
   */
  servedBusinesses?: Readonly<Record<string, ServedBusinesses>> | undefined;
  /**
   * What new sales and refunds of each connection are checked for, as the workers have it (`inputChecks` of the
   * configuration). Default: nothing is checked here, and the workers check alone.
   */
  inputChecks?: Readonly<Record<string, InputChecks>> | undefined;
  /** Who answers for an operator's decision where the request does not say; default: user@host. */
  identity?: string | undefined;
}

export interface StartedSale {
  workflowId: string;
  fingerprint: string;
  result: StartResult;
  /** What looks wrong in the input, field by field; absent where nothing does. */
  warnings?: string[];
}

/**
 * A caller who waits is answered, or told that nobody answers, within three seconds more. With 0, which asks for what
 * is true now, the answer may take as long as a worker needs for its restart.
 */
export interface WaitOptions {
  /** From 0 to 86,400, which is a day. Anything else is refused as `InvalidInput`. */
  waitSeconds?: number | undefined;
}

/** How long a caller waits where it does not say: a till's patience. */
const DEFAULT_WAIT_SECONDS = 20;

export type Starter = ReturnType<typeof createStarter>;

/**
 * Starting the same sale twice gives the first; nothing here makes a second document. Every error that is thrown on
 * purpose is a {@link FiscalflowError}; while Temporal is away, each function throws a `TemporalUnavailableError` in
 * bounded time (https://github.com/fiscalflow/fiscalflow/blob/main/docs/clients.md).
 */
export function createStarter(options: StarterOptions) {
  if (!(options?.client instanceof Object))
    throw new InvalidInputError("options of the starter", ["client: expected a Client of @temporalio/client"], "are");
  const { client, businesses = {}, connections, servedBusinesses = {}, inputChecks = {}, identity } = options;
  const checkConnection = ({ connection }: { connection?: string }): void => {
    if (connections !== undefined) requireConnection(connections, connection);
  };
  /** Of what begins something new: an answer to what runs already, or a look at it, is never refused for its business. */
  const checkServed = (named: { connection?: string; businessId?: string }): void => {
    checkConnection(named);
    const { connection, businessId } = named;
    const served = servedBusinesses[connection ?? DEFAULT_CONNECTION];
    if (served !== undefined && businessId !== undefined) requireServed(served, businessId, connection);
  };
  const checksOf = ({ connection = DEFAULT_CONNECTION }: { connection?: string }) => inputChecks[connection];
  const named = (key: SaleKey): SaleKey => {
    requireKey(key);
    const businessId = key.businessId ?? businesses[key.connection ?? DEFAULT_CONNECTION];
    return { ...key, ...(businessId !== undefined && { businessId }) };
  };
  const stateOf = (sale: SaleKey): Promise<SaleState> => stateOfSale(client, sale, () => checkConnection(sale));
  const correctionOf = async (sale: SaleKey): Promise<KnownCorrection | undefined> =>
    correctionIn(await stateOf(sale), { workflowId: saleIdOf(sale), invoice: sale.invoice });
  const idOf = (target: UpdateTarget): string => {
    requireTarget(target);
    return target.workflowId ?? saleIdOf(named(target));
  };
  /** @throws InvalidInputError, UnknownConnectionError, UnknownBusinessError */
  const checkedStart = async (input: SaleInput): Promise<{ start: PlannedStart; warnings: string[] }> => {
    const start = saleStart(input, businesses);
    checkServed(start.input);
    requireBusiness(start.input);
    const checks = checksOf(start.input);
    const warnings = checks ? doubtsOf(start.input, checks, Date.now()) : [];
    // A sale that was started once is found again, whatever it looks like today.
    if (checks === "refuse" && warnings.length > 0 && !(await lastRunOf(client, start.workflowId)))
      throw new InvalidInputError("sale input", warnings);
    return { start, warnings };
  };
  const startedSale = (
    { workflowId, fingerprint }: PlannedStart,
    result: StartResult,
    warnings: string[],
  ): StartedSale => ({
    workflowId,
    fingerprint,
    result,
    ...(warnings.length > 0 && { warnings }),
  });
  return {
    /**
     * Waits for nothing of the sale. One whose business neither the input nor `businesses` names is refused.
     * @throws InvalidInputError, UnknownConnectionError, UnknownBusinessError, SaleConflictError
     */
    startSale: (input: SaleInput): Promise<StartedSale> =>
      withClientErrors(client, START_BOUND_MS, async () => {
        const { start, warnings } = await checkedStart(input);
        return startedSale(start, await startSaleOnce(client, start), warnings);
      }),

    /**
     * Starts a sale, or finds the one that has its number, and waits for its outcome (seconds; default 20): until it is
     * settled, or its document needs an operator. When the time is up it returns the stage reached, and the sale goes
     * on. A new sale takes one round trip to Temporal.
     * @throws InvalidInputError, UnknownConnectionError, UnknownBusinessError, SaleConflictError, SaleFailedError, NoAnswerError
     */
    startSaleAndWait: (
      input: SaleInput,
      { waitSeconds = DEFAULT_WAIT_SECONDS }: WaitOptions = {},
    ): Promise<StartedSale & { outcome: SaleOutcome }> =>
      waiting(client, waitSeconds, async (waitMs) => {
        const { start, warnings } = await checkedStart(input);
        const { result, outcome } = await startAndWait(client, start, waitMs);
        return { ...startedSale(start, result, warnings), outcome };
      }),

    /**
     * The outcome of a sale that was started, waited for as long as asked (seconds; default 0). Where Temporal no
     * longer has the sale, or its history can no longer be read, the ledger answers. `closed` says that its workflow
     * ended without an outcome, and how. Of a sale that has finished no worker is needed.
     * @throws InvalidInputError, UnknownConnectionError, SaleNotFoundError, SaleFailedError, NoAnswerError,
     * LedgerAwayError
     */
    outcome: (key: SaleKey, { waitSeconds = 0 }: WaitOptions = {}): Promise<KnownOutcome> =>
      waiting(client, waitSeconds, async (waitMs) => {
        const sale = named(key);
        const wait = { workflowId: saleIdOf(sale), sale, waitMs, beforeLedger: () => checkConnection(key) };
        const outcome = await waitForOutcome(client, wait);
        return "source" in outcome ? outcome : { ...outcome, source: "workflow" };
      }),

    /**
     * At no cost to its workflow. Where Temporal no longer has the sale, or its history can no longer be read, the
     * ledger answers. `closed` as in the outcome.
     * @throws UnknownConnectionError, SaleNotFoundError, SaleFailedError, NoAnswerError, LedgerAwayError
     */
    getSale: (key: SaleKey): Promise<SaleState> =>
      withClientErrors(client, BOUND_MS, async () => await stateOf(named(key))),

    /**
     * Reverses the sale in full, within its refund window or after it, and waits for the credit note as long as asked
     * (seconds; default 0: it returns as soon as the refund is accepted, whatever becomes of the credit note). `refund`
     * of the outcome says what was accepted, `stage` how far it is. A caller who does not wait is not told that the
     * credit note's number is another sale's: then the sale needs an operator.
     * @throws InvalidInputError, UnknownConnectionError, UnknownBusinessError, NotAllowedError, SaleConflictError,
     * SaleNotFoundError
     */
    refund: (key: SaleKey, request: RefundRequest, { waitSeconds = 0 }: WaitOptions = {}): Promise<CheckedRefund> =>
      waiting(client, waitSeconds, async (waitMs) => {
        const sale = named(key);
        checkServed(sale);
        return await refundSale(client, sale, request, { waitMs, checks: checksOf(key) });
      }),

    /**
     * Credits a signed sale, and issues the corrected one under its own number: a refund with `replaceWith`. There is
     * never one without the other, unless an operator says so. Asking twice gives the same correction. Waits until both
     * are signed, or somebody is needed, for as long as asked (seconds; default 0: until nothing stands against it).
     * @throws InvalidInputError, UnknownConnectionError, UnknownBusinessError, NotAllowedError, SaleConflictError,
     * SaleNotFoundError: nothing was done. NoAnswerError
     */
    correct: (
      key: SaleKey,
      request: CorrectionRequest,
      { waitSeconds = 0 }: WaitOptions = {},
    ): Promise<CheckedCorrection> =>
      waiting(client, waitSeconds, async (waitMs) => {
        const sale = named(key);
        checkServed(sale);
        requireReplacement(request);
        const asking = { waitMs, checks: checksOf(key) };
        const { warnings } = await refundSale(client, sale, request, asking);
        const known = await correctionOf(sale);
        if (!known)
          throw new SaleFailedError(`The sale ${key.invoice} shows no correction. Look at it, and ask again.`);
        return { ...known, ...(warnings && { warnings }) };
      }),

    /**
     * The correction of a sale, as far as it has come; undefined where it has none.
     * @throws UnknownConnectionError, SaleNotFoundError, NoAnswerError, LedgerAwayError
     */
    correction: (key: SaleKey): Promise<KnownCorrection | undefined> =>
      withClientErrors(client, BOUND_MS, async () => await correctionOf(named(key))),

    /** What needs an operator, one at a time, with the updates that resolve it and their JSON. */
    listAttention: async function* (filter: AttentionFilter = {}): AsyncGenerator<OpenAttention> {
      try {
        yield* listAttention(client, filter);
      } catch (error) {
        throw temporalError(error);
      }
    },

    /**
     * What happened to the documents of a business, from the ledger: each event after a cursor, in order and at least
     * once. With `follow` it goes on with those to come.
     * @throws CursorLostError, NoAnswerError, InvalidInputError, UnknownConnectionError
     */
    events: async function* (request: EventsRequest = {}): AsyncGenerator<LedgerEvent, void, undefined> {
      checkConnection(request);
      const businessId = request.businessId ?? businesses[request.connection ?? DEFAULT_CONNECTION];
      try {
        yield* readEvents(client, { ...request, ...(businessId !== undefined && { businessId }) });
      } catch (error) {
        throw temporalError(error);
      }
    },

    /** An operator's answers: each goes to a sale, or to the workflow that `listAttention` names. */
    ...operations(client, identity, idOf),
    workflowId: idOf,
  };
}

const START_BOUND_MS = 15_000;
/** Of a call that waits for no outcome. */
const BOUND_MS = 60_000;
const ANSWER_MS = 3_000;

async function waiting<T>(client: Client, waitSeconds: number, work: (waitMs: number) => Promise<T>): Promise<T> {
  const waitMs = waitMsOf(waitSeconds);
  const boundMs = waitMs === 0 ? BOUND_MS : waitMs + ANSWER_MS;
  return await withClientErrors(client, boundMs, () => work(waitMs));
}

async function withClientErrors<T>(client: Client, withinMs: number, work: () => Promise<T>): Promise<T> {
  return await bounded(client, withinMs, async () => {
    try {
      return await work();
    } catch (error) {
      throw temporalError(error);
    }
  });
}
