import { z } from "zod";

import { bodyOf } from "../http/read-body.ts";
import type { Transport } from "../http/transport.ts";
import { listBillPayments, type ListBillPaymentsInput } from "./bill-payments.ts";
import {
  type AccountingCallOptions,
  type AccountingContext,
  type AccountingResult,
  callAccounting,
  pathSegment,
} from "./call-operation.ts";
import type { AccountingDialect } from "./dialect.ts";
import { AccountingConfigurationError } from "./errors.ts";
import { ACCOUNTING_OPERATIONS } from "./operations.ts";

/** A company's fields are not shown: what there is is kept as it came. */
export type Company = Readonly<Record<string, unknown>>;

/** GET /companies: the document's sample of an authenticated call. */
async function listCompanies(
  context: AccountingContext,
  options: AccountingCallOptions = {},
): Promise<AccountingResult<Company[]>> {
  const operation = ACCOUNTING_OPERATIONS.listCompanies;
  const { list } = context.dialect.companies;
  const companies = z.array(z.looseObject({}));
  const read =
    list === null
      ? bodyOf(companies, (all): Company[] => all)
      : bodyOf(z.looseObject({ [list]: companies }), (body): Company[] => companies.parse(body[list]));
  return callAccounting(context, operation, { path: operation.path }, read, options);
}

export interface ProcessedBatch {
  /** The service's own words. */
  message: string;
}

const readProcessed = bodyOf(z.looseObject({ message: z.string() }), ({ message }): ProcessedBatch => ({ message }));

/**
 * POST /sync/batches/{syncBatchId}/process, without a body. What processing does is not shown, nor that it may be asked
 * for twice: sent once, on a connection of its own.
 */
async function processSyncBatch(
  context: AccountingContext,
  syncBatchId: string,
  options: AccountingCallOptions = {},
): Promise<AccountingResult<ProcessedBatch>> {
  const operation = ACCOUNTING_OPERATIONS.processSyncBatch;
  const path = operation.path.replace("{syncBatchId}", () => pathSegment(syncBatchId));
  return callAccounting(context, operation, { path }, readProcessed, options);
}

interface Revealed {
  reveal(): string;
}

export interface AccountingClientOptions {
  /** The base address: there is no version prefix. */
  baseUrl: string;
  /**
   * `sk_development_…` or `sk_production_…`. What gives the present one is asked for it by each request: it may change.
   */
  apiKey: string | Revealed;
  /** `cs_…`: with it every request is signed. */
  clientSecret?: string | Revealed | undefined;
  dialect: AccountingDialect;
  transport: Transport;
  /** One call, from connecting to the last byte; default 30 s. */
  timeoutMs?: number | undefined;
  /** The clock of signatures; default Date.now. */
  nowMs?: (() => number) | undefined;
}

export type AccountingClient = ReturnType<typeof createAccountingClient>;

/**
 * The typed client of the Accounting Service. One method, one request; nothing is repeated, nothing is global. Every method rejects with a TransportError, an AccountingApiError (401:
 * AccountingUnauthorizedError, 403: AccountingForbiddenError), an AccountingUnexpectedAnswerError or, before sending,
 * an AccountingInputError.
 *
 * @throws AccountingConfigurationError
 */
export function createAccountingClient(options: AccountingClientOptions) {
  const context: AccountingContext = {
    baseUrl: parseBaseUrl(options.baseUrl),
    apiKey: presentSecret(
      "invalid-api-key",
      "the API key",
      /^sk_(development|production)_[\x21-\x7e]+$/,
      options.apiKey,
    ),
    clientSecret:
      options.clientSecret === undefined
        ? undefined
        : presentSecret("invalid-client-secret", "the client secret", /^cs_[\x21-\x7e]+$/, options.clientSecret),
    dialect: options.dialect,
    transport: options.transport,
    timeoutMs: options.timeoutMs ?? 30_000,
    nowMs: options.nowMs ?? Date.now,
  };
  return {
    listCompanies: (call?: AccountingCallOptions) => listCompanies(context, call),
    listBillPayments: (input?: ListBillPaymentsInput, call?: AccountingCallOptions) =>
      listBillPayments(context, input, call),
    processSyncBatch: (syncBatchId: string, call?: AccountingCallOptions) =>
      processSyncBatch(context, syncBatchId, call),
    /** The answer with whatever names it has: for whoever compares them with the dialect's. */
    listCompaniesAsSent: (call: AccountingCallOptions = {}) => {
      const operation = ACCOUNTING_OPERATIONS.listCompanies;
      return callAccounting<unknown>(
        context,
        operation,
        { path: operation.path },
        ({ json }) => ({ data: json }),
        call,
      );
    },
  };
}

/** Never quotes the address, which may hold credentials. */
function parseBaseUrl(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const plain =
    url !== undefined &&
    /^https?:$/.test(url.protocol) &&
    `${url.username}${url.password}${url.search}${url.hash}` === "";
  if (plain) return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
  throw new AccountingConfigurationError("invalid-base-url", [
    "the base URL of the Accounting Service must be an absolute http or https URL without credentials, query or fragment",
  ]);
}

/** Of a wrong form, it fails here and not with the first request. */
function presentSecret(
  code: "invalid-api-key" | "invalid-client-secret",
  noun: string,
  form: RegExp,
  secret: string | Revealed,
): () => string {
  const present = (): string => parseSecret(code, noun, form, typeof secret === "string" ? secret : secret.reveal());
  present();
  return present;
}

/** Never quotes the secret. */
function parseSecret(
  code: "invalid-api-key" | "invalid-client-secret",
  noun: string,
  form: RegExp,
  value: string,
): string {
  if (form.test(value)) return value;
  const forms = code === "invalid-api-key" ? "sk_development_ or sk_production_" : "cs_";
  throw new AccountingConfigurationError(code, [
    `${noun} of the Accounting Service must begin with ${forms} and hold no spaces or line breaks`,
  ]);
}
