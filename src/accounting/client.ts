import { createHmac } from "node:crypto";
import { z } from "zod";

import type { BillPayment } from "../contract/synced.ts";
import { anyJson, bodyOf, bodyReader, type ReadBody, type ReadList, rowsOf } from "../http/read-body.ts";
import { CallInputError, type CallOptions, callService, pathWithId, type ServiceResult } from "../http/service-call.ts";
import type { Transport } from "../http/transport.ts";
import type { AccountingDialect } from "./dialect.ts";
import { accountingErrorOf } from "./errors.ts";
import { ACCOUNTING_OPERATIONS, type AccountingOperation, type AccountingOperationName } from "./operations.ts";

interface Revealed {
  reveal(): string;
}

export interface AccountingClientOptions {
  /** The base address, without a slash at its end: there is no version prefix. */
  baseUrl: string;
  /** `sk_development_…` or `sk_production_…`. Revealed for each request: it may change. */
  apiKey: Revealed;
  /** `cs_…`: with it every request is signed. */
  clientSecret?: Revealed | undefined;
  dialect: AccountingDialect;
  transport: Transport;
  /** One call, from connecting to the last byte. */
  timeoutMs: number;
  /** The clock of signatures; default Date.now. */
  nowMs?: () => number;
}

export type AccountingResult<Data> = ServiceResult<Data, AccountingOperationName>;

export interface ListBillPaymentsInput {
  /** From 1, which is the default of this client: the service's is not shown. */
  page?: number;
  /** From 1 to 100. Default: the service's, which is not shown. */
  limit?: number;
  paymentMethod?: "cash" | "check" | "bank_transfer" | "credit_card" | "other";
  status?: string | undefined;
  sortBy?: "paymentDate" | "totalAmount" | "createdAt" | "updatedAt";
  sortDirection?: "asc" | "desc";
}

/** The list envelope, with `data` under its own name. */
export interface BillPaymentsPage {
  billPayments: BillPayment[];
  total: number;
  page: number;
  limit: number;
  totalPages: number;
  hasNextPage: boolean;
  hasPreviousPage: boolean;
}

export type AccountingClient = ReturnType<typeof createAccountingClient>;

/**
 * The typed client of the Accounting Service. One method, one request; nothing is repeated, nothing is global. Every
 * method rejects with a TransportError, an AccountingApiError, an UnexpectedAnswerError or, before sending, a
 * CallInputError.
 */
export function createAccountingClient(options: AccountingClientOptions) {
  const { dialect } = options;
  const { listCompanies, listBillPayments, processSyncBatch } = ACCOUNTING_OPERATIONS;
  return {
    /** GET /companies, with whatever names the answer has: for a caller who compares them with the dialect's. */
    listCompanies: (call?: CallOptions) =>
      callAccounting(options, listCompanies, { path: listCompanies.path }, anyJson, call),
    /** GET /bill-payments, one page. */
    listBillPayments: async (input: ListBillPaymentsInput = {}, call?: CallOptions) => {
      const request = { path: listBillPayments.path, query: queryOf(dialect, input) };
      return callAccounting(options, listBillPayments, request, billPaymentsPage, call);
    },
    /**
     * POST /sync/batches/{syncBatchId}/process, without a body. What processing does is not shown, nor that it may be
     * asked for twice: sent once, on a connection of its own.
     */
    processSyncBatch: async (syncBatchId: string, call?: CallOptions) => {
      const path = pathWithId(processSyncBatch.path, syncBatchId);
      return callAccounting(options, processSyncBatch, { path }, processed, call);
    },
  };
}

/** The service's own words. */
const processed = bodyOf(z.looseObject({ message: z.string() }), ({ message }) => ({ message }));

const text = z.string().nullish();
const amount = z.number().nullish();
const named = z.looseObject({ id: text, name: text }).nullish();

const billPayment: z.ZodType<BillPayment> = z.looseObject({
  id: z.string().min(1),
  supplierRef: named,
  accountRef: named,
  paymentMethodRef: named,
  billRef: z.looseObject({ id: text, billCode: text }).nullish(),
  totalAmount: amount,
  currency: text,
  currencyRate: amount,
  date: text,
  billPaymentCode: text,
  note: text,
  lines: z
    .array(
      z.looseObject({
        amount,
        allocatedOnDate: text,
        reference: text,
        links: z.array(z.looseObject({ billId: text, amount })).nullish(),
      }),
    )
    .nullish(),
  createdAt: text,
  updatedAt: text,
});

const billPaymentsPage = rowsOf({
  path: ["data"],
  body: z.looseObject({
    data: z.array(z.unknown()),
    total: z.number(),
    page: z.number(),
    limit: z.number(),
    totalPages: z.number(),
    hasNextPage: z.boolean(),
    hasPreviousPage: z.boolean(),
  }),
  row: billPayment,
  names: ["id"],
  data: ({ total, page, limit, totalPages, hasNextPage, hasPreviousPage }, billPayments): BillPaymentsPage => {
    return { billPayments, total, page, limit, totalPages, hasNextPage, hasPreviousPage };
  },
});

/** @throws CallInputError where the dialect has no name for what is asked: the answer would be to another question */
function queryOf({ billPayments: names }: AccountingDialect, asked: ListBillPaymentsInput): Record<string, string> {
  const query: Record<string, string> = {};
  for (const [input, value] of Object.entries({ page: 1, ...asked })) {
    const name = names[input as keyof ListBillPaymentsInput];
    if (value === undefined) continue;
    if (name === null)
      throw new CallInputError(
        "not-in-dialect",
        `listBillPayments: \`${input}\` was asked for, and the dialect has no name for it`,
      );
    query[name] = String(value);
  }
  return query;
}

/** No operation that the document shows has a body. */
async function callAccounting<Data>(
  { baseUrl, apiKey, clientSecret, dialect, transport, timeoutMs, nowMs = Date.now }: AccountingClientOptions,
  { name: operation, method, riskClass }: AccountingOperation,
  { path, query = {} }: { path: string; query?: Readonly<Record<string, string>> },
  read: ReadBody<Data> | ReadList<Data>,
  call: CallOptions = {},
): Promise<AccountingResult<Data>> {
  const url = new URL(`${baseUrl}${path}`);
  for (const [key, value] of Object.entries(query)) url.searchParams.set(key, value);
  const timestampMs = nowMs();
  const toSign = { method, url, body: "", timestampMs, withQuery: dialect.signature.query };
  const headers = {
    accept: "application/json",
    "user-agent": "fiscalflow",
    // "Authentication", 1: the same key works for all products.
    "x-api-key": apiKey.reveal(),
    ...(clientSecret && signatureHeaders(toSign, clientSecret.reveal())),
  };
  const freshConnection = riskClass === "unrepeatableWrite";
  return callService(
    transport,
    { operation, method, url, headers, timeoutMs, freshConnection, ...call },
    bodyReader(read),
    {
      isSuccess: ({ status }) => status === 200,
      errorOf: (answer, meta) => accountingErrorOf(answer, meta, clientSecret && timestampMs),
    },
  );
}

interface ToSign {
  method: string;
  url: URL;
  /** The exact body as it is transmitted; the empty string where there is none. */
  body: string;
  timestampMs: number;
  /** Whether the query string belongs to the path: not shown, so the dialect says (`signature.query`). */
  withQuery: boolean;
}

/**
 * Accounting Service, "Authentication", 3 and 4: HMAC-SHA256 under the client secret, hex-encoded, of method, path,
 * exact body and timestamp (Unix milliseconds), with nothing between them. The path is that of the request line, with
 * whatever prefix the base address has, escaped as it is sent.
 */
export function signatureHeaders(
  { method, url, body, timestampMs, withQuery }: ToSign,
  clientSecret: string,
): Record<string, string> {
  const message = `${method}${url.pathname}${withQuery ? url.search : ""}${body}${timestampMs}`;
  const hmac = createHmac("sha256", clientSecret).update(message, "utf8").digest("hex");
  return { "x-signature": hmac, "x-timestamp": String(timestampMs) };
}
