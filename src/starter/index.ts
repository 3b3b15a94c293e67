import { type Client, WorkflowNotFoundError } from "@temporalio/client";

import { doubtsOf, type InputChecks } from "../contract/input-checks.ts";
import type {
  AcknowledgeRequest,
  CancelRequest,
  ResolveDocumentRequest,
  ResolveStockRequest,
  RetryRequest,
  WorkflowState,
} from "../contract/messages.ts";
import { DEFAULT_CONNECTION, STATE_QUERY } from "../contract/names.ts";
import type { RefundRequest, SaleInput, SaleOutcome } from "../contract/sale.ts";
import { InvalidInputError } from "../contract/schema/parse-input.ts";
import { type KnownOutcome, ledgerOutcome, ledgerState, type SaleState } from "./answer-from-ledger.ts";
import { answeredInTime } from "./answered-in-time.ts";
import { SaleNotFoundError } from "./errors.ts";
import { findClosedSale } from "./find-closed-sale.ts";
import { callerIdentity, operations } from "./operate.ts";
import { waitForOutcome } from "./outcome.ts";
import { refundSale } from "./refund.ts";
import { requireConnection, saleIdOf, type SaleKey } from "./sale-key.ts";
import { type DefaultBusinesses, isKnown, saleStart, type StartResult, startSaleOnce } from "./start-sale.ts";

export type { Attention, AttentionCode, Decision, Mend } from "../contract/attention.ts";
export type { Customer, LinesLeftOut, Receipt, SaleDocument, SaleDocumentLine } from "../contract/documents.ts";
export type {
  AcknowledgeRequest,
  CancelRequest,
  MessageReply,
  ResolveDocumentRequest,
  ResolveStockRequest,
  RetryRequest,
  WorkflowState,
} from "../contract/messages.ts";
export type { InputChecks } from "../contract/input-checks.ts";
export { STATE_QUERY } from "../contract/names.ts";
export {
  type CustomerInput,
  REFUND_REASONS,
  type RefundReason,
  type RefundRequest,
  type SaleInput,
  type SaleLineInput,
  type SaleOutcome,
  type StockMode,
} from "../contract/sale.ts";
export { InvalidInputError } from "../contract/schema/parse-input.ts";
export { refundRequestSchema } from "../contract/schema/refund-request.ts";
export { saleInputSchema } from "../contract/schema/sale-input.ts";
export type { Stage } from "../contract/stages.ts";
export type { StockMovement } from "../contract/stock-movement.ts";
export type { ResolveBatchRequest } from "../contract/sync-batch.ts";
export type { KnownOutcome, SaleState } from "./answer-from-ledger.ts";
export { answeredInTime, isWithoutAnswer } from "./answered-in-time.ts";
export * from "./errors.ts";
export { callerIdentity, operations } from "./operate.ts";
export { requireConnection, type SaleKey, UnknownConnectionError } from "./sale-key.ts";
export type { DefaultBusinesses } from "./start-sale.ts";

export interface StarterOptions {
  client: Client;
  /** The default business of each connection, as the workers know it: `{ default: "biz_1" }`. */
  businesses?: DefaultBusinesses;
  /**
   * The connections that the workers have configured: a sale or a refund through another is refused. Default: any is
   * accepted.
   */
  connections?: readonly string[];
  /**
   * What new sales of each connection are checked for, as the workers have it (`inputChecks` of the configuration).
   * Default: nothing is said here, and the workers check alone.
   */
  inputChecks?: Readonly<Record<string, InputChecks>>;
  /** Who answers for an operator's decision where the request does not say; default: user@host. */
  identity?: string;
}

export interface StartedSale {
  workflowId: string;
  fingerprint: string;
  result: StartResult;
  /** What looks wrong in the input, field by field; absent where nothing does. */
  warnings?: string[];
  /** Present where the caller waited. */
  outcome?: SaleOutcome;
}

export type Starter = ReturnType<typeof createStarter>;

/**
 * What other services use: start a sale, wait for its receipt, refund it, and mend what needs a person. Starting the
 * same sale twice gives the first; nothing here makes a second document.
 */
export function createStarter(options: StarterOptions) {
  const { client, businesses = {}, connections, inputChecks = {}, identity = callerIdentity() } = options;
  const operate = operations(client, identity);
  const checkConnection = ({ connection }: { connection?: string }): void => {
    if (connections !== undefined) requireConnection(connections, connection);
  };
  const named = (key: SaleKey): SaleKey => {
    const businessId = key.businessId ?? businesses[key.connection ?? DEFAULT_CONNECTION];
    return { ...key, ...(businessId !== undefined && { businessId }) };
  };
  const idOf = (key: SaleKey): string => saleIdOf(named(key));
  return {
    /**
     * Starts a sale, and waits for its outcome for as long as asked (seconds; default 0).
     * @throws InvalidInputError, UnknownConnectionError, SaleConflictError, InvalidSaleError, NoAnswerError
     */
    async startSale(input: SaleInput, options: { waitSeconds?: number } = {}): Promise<StartedSale> {
      const start = saleStart(input, businesses);
      checkConnection(start.input);
      const { workflowId, fingerprint } = start;
      const checks = inputChecks[start.input.connection ?? DEFAULT_CONNECTION];
      const warnings = checks ? doubtsOf(start.input, checks, Date.now()) : [];
      // A sale that was started once is found again, whatever it looks like today.
      if (checks?.mode === "refuse" && warnings.length > 0 && !(await isKnown(client, workflowId)))
        throw new InvalidInputError("sale input", warnings);
      const result = await startSaleOnce(client, start);
      const started = { workflowId, fingerprint, result, ...(warnings.length > 0 && { warnings }) };
      if (!options.waitSeconds) return started;
      const waitMs = options.waitSeconds * 1000;
      const fresh = result === "started";
      return { ...started, outcome: await waitForOutcome(client, { workflowId, fingerprint, waitMs, fresh }) };
    },

    /**
     * The outcome, waited for as long as asked (seconds; default 0). Where Temporal no longer has the sale, the ledger
     * answers.
     * @throws SaleNotFoundError, SaleFailedError, NoAnswerError, LedgerAwayError
     */
    async outcome(key: SaleKey, options: { waitSeconds?: number } = {}): Promise<KnownOutcome> {
      try {
        const wait = { workflowId: idOf(key), waitMs: (options.waitSeconds ?? 0) * 1000 };
        return { ...(await waitForOutcome(client, wait)), source: "workflow" };
      } catch (error) {
        if (!(error instanceof SaleNotFoundError)) throw error;
        return ledgerOutcome(await findClosedSale(client, named(key)));
      }
    },

    /**
     * Everything that is known of the sale, at no cost to its workflow. Where Temporal no longer has it, the ledger
     * answers.
     * @throws SaleNotFoundError, NoAnswerError, LedgerAwayError
     */
    async state(key: SaleKey): Promise<SaleState> {
      try {
        const handle = client.workflow.getHandle(idOf(key));
        const ask = (): Promise<WorkflowState> => handle.query<WorkflowState>(STATE_QUERY);
        return { ...(await answeredInTime(client, handle.workflowId, ask)), source: "workflow" };
      } catch (error) {
        if (!(error instanceof WorkflowNotFoundError)) throw error;
        return ledgerState(await findClosedSale(client, named(key)));
      }
    },

    /**
     * Reverses the sale in full, within its refund window or after it.
     * @throws InvalidInputError, UnknownConnectionError, NotAllowedError, SaleConflictError
     */
    async refund(key: SaleKey, request: RefundRequest, options: { waitSeconds?: number } = {}): Promise<SaleOutcome> {
      checkConnection(key);
      return refundSale(client, named(key), request, (options.waitSeconds ?? 0) * 1000);
    },

    retry: (key: SaleKey, request?: RetryRequest) => operate.retry(idOf(key), request),
    cancel: (key: SaleKey, request: CancelRequest) => operate.cancel(idOf(key), request),
    resolveStock: (key: SaleKey, request: ResolveStockRequest) => operate.resolveStock(idOf(key), request),
    resolveDocument: (key: SaleKey, request: ResolveDocumentRequest) => operate.resolveDocument(idOf(key), request),
    acknowledge: (key: SaleKey, request: AcknowledgeRequest) => operate.acknowledge(idOf(key), request),
    workflowId: idOf,
  };
}
