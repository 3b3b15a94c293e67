import type { Transport } from "../http/transport.ts";
import { parseApiKey } from "./api-key.ts";
import { type BusinessCallOptions, callOperation, type CallOptions, type ClientContext } from "./call-operation.ts";
import type { ComposedRequest, KeyReach } from "./compose.ts";
import type { ComplianceDialect } from "./dialect.ts";
import { ComplianceConfigurationError } from "./errors.ts";
import { callNamed, downloadReceipt, type NamedCallInput } from "./named-operations.ts";
import { type NamedOperation, operation } from "./operations.ts";
import {
  adjustStock,
  type AdjustStockInput,
  createCreditNote,
  createSale,
  getSale,
  type KeyedCallOptions,
  listBusinesses,
  listItems,
  listPurchases,
  type ListPurchasesInput,
  pullPurchases,
  registerItem,
  type RegisterItemInput,
  retrySale,
} from "./resources.ts";

/**
 * The address in front of `/v1`, without a slash at its end.
 *
 * @throws ComplianceConfigurationError never quoting the address, which may hold credentials
 */
function parseBaseUrl(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const problem =
    url === undefined || (url.protocol !== "https:" && url.protocol !== "http:")
      ? "must be an absolute http or https URL"
      : url.username !== "" || url.password !== ""
        ? "must not hold credentials"
        : url.search !== "" || url.hash !== ""
          ? "must not hold a query or a fragment"
          : undefined;
  if (url !== undefined && problem === undefined) return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
  throw new ComplianceConfigurationError("invalid-base-url", [`the base URL of the Compliance API ${problem}`]);
}

export interface ComplianceClientOptions {
  baseUrl: string;
  /** What gives the present key is asked for it by each request: the key may change. */
  apiKey: string | { reveal(): string };
  /** The form of the header that carries the key; default `x-api-key`. */
  auth?: "x-api-key" | "bearer" | undefined;
  keyReach: KeyReach;
  dialect: ComplianceDialect;
  transport: Transport;
  /** One call, from connecting to the last byte; default 30 s. */
  timeoutMs?: number | undefined;
}

export type ComplianceClient = ReturnType<typeof createComplianceClient>;

/**
 * The typed client of the Compliance API. One method, one request; nothing is repeated, nothing is global. Every method
 * rejects with a TransportError, a ComplianceApiError, an UnexpectedAnswerError or, before sending, a
 * ComplianceInputError.
 *
 * @throws ComplianceConfigurationError
 */
export function createComplianceClient(options: ComplianceClientOptions) {
  const { apiKey } = options;
  const presentKey = typeof apiKey === "string" ? () => apiKey : () => apiKey.reveal();
  // Of a wrong form, it fails here and not with the first request.
  parseApiKey(presentKey());
  const context: ClientContext = {
    baseUrl: parseBaseUrl(options.baseUrl),
    apiKey: () => parseApiKey(presentKey()),
    auth: options.auth ?? "x-api-key",
    keyReach: options.keyReach,
    dialect: options.dialect,
    transport: options.transport,
    timeoutMs: options.timeoutMs ?? 30_000,
  };
  return {
    getSale: (saleId: string, call?: BusinessCallOptions) => getSale(context, saleId, call),
    createSale: (composed: ComposedRequest, call?: Partial<KeyedCallOptions>) => createSale(context, composed, call),
    createCreditNote: (composed: ComposedRequest, call: KeyedCallOptions) => createCreditNote(context, composed, call),
    retrySale: (saleId: string, call?: BusinessCallOptions) => retrySale(context, saleId, call),
    adjustStock: (input: AdjustStockInput, call?: BusinessCallOptions) => adjustStock(context, input, call),
    registerItem: (input: RegisterItemInput, call?: BusinessCallOptions) => registerItem(context, input, call),
    listItems: (call?: BusinessCallOptions) => listItems(context, call),
    listPurchases: (input: ListPurchasesInput, call?: BusinessCallOptions) => listPurchases(context, input, call),
    pullPurchases: (call?: BusinessCallOptions) => pullPurchases(context, call),
    listBusinesses: (call?: CallOptions) => listBusinesses(context, call),
    downloadReceipt: (saleId: string, onBody: (piece: Uint8Array) => Promise<unknown>, call?: BusinessCallOptions) =>
      downloadReceipt(context, saleId, onBody, call),
    callNamed: (name: NamedOperation, input?: NamedCallInput, call?: BusinessCallOptions) =>
      callNamed(context, name, input, call),
    /** The answer with whatever names it has: for whoever compares them with the dialect's. */
    listBusinessesAsSent: (call: CallOptions = {}) => {
      const shown = operation("listBusinesses");
      return callOperation<unknown>(context, shown, { path: shown.path }, ({ json }) => ({ data: json }), call);
    },
  };
}
