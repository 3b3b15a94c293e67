import { z } from "zod";

import type { Branch } from "../contract/calls.ts";
import type { StockAction } from "../contract/stock-movement.ts";
import { field } from "../http/json.ts";
import { anyJson, bodyOf, bodyReader, type ReadBody, type ReadList } from "../http/read-body.ts";
import type { HttpRequest } from "../http/request.ts";
import {
  CallInputError,
  type CallOptions,
  callService,
  encodePart,
  pathWithId,
  type ServiceResult,
} from "../http/service-call.ts";
import type { Transport } from "../http/transport.ts";
import {
  branchField,
  composeBody,
  type ComposedRequest,
  type KeyReach,
  placeBusinessId,
  underNames,
} from "./compose.ts";
import type { ComplianceDialect } from "./dialect.ts";
import { apiErrorOf } from "./errors.ts";
import {
  type NamedOperation,
  type Operation,
  operation,
  type OperationName,
  type ShownOperation,
} from "./operations.ts";
import {
  readAdjustment,
  readBusinesses,
  readDocument,
  readItem,
  readItems,
  readPurchases,
  readSeenSale,
} from "./answers.ts";

/** Of many rows, whatever reads them, and however. */
const LISTS: readonly OperationName[] = ["listItems", "listPurchases"];

export interface ComplianceClientOptions {
  /** The address in front of `/v1`, without a slash at its end. */
  baseUrl: string;
  /** `cmp_sk_…`. Revealed for each request: it may change. */
  apiKey: { reveal(): string };
  /** The form of the header that carries the key; default `x-api-key`. */
  auth?: "x-api-key" | "bearer" | undefined;
  keyReach: KeyReach;
  dialect: ComplianceDialect;
  transport: Transport;
  /** One call, from connecting to the last byte; default 30 s. */
  timeoutMs?: number | undefined;
}

export interface BusinessCallOptions extends CallOptions {
  /** Must be given with an organisation-wide key; never sent with a bound one. */
  businessId?: string | undefined;
}

export interface KeyedCallOptions extends CallOptions {
  /** 8 to 128 characters out of `A-Z a-z 0-9 . _ : -`. */
  idempotencyKey: string;
}

export interface RegisterItemInput {
  itemId: string;
  /** Default: the business's first branch. */
  branch?: Branch | undefined;
  /** Register again an item that the tax authority already has. */
  force?: boolean | undefined;
}

export interface AdjustStockInput {
  itemId: string;
  action: StockAction;
  quantity: number;
  unitPrice?: number | undefined;
  /** The movement's own reference, at most 100 characters. */
  referenceId: string;
  branch?: Branch | undefined;
}

export interface ListPurchasesInput {
  /** The `nextCursor` of the page before, unchanged. */
  cursor?: string | undefined;
  /** 1 to 100; the API refuses what is outside. */
  pageSize?: number | undefined;
  /** `pulled`, `pending_review`, `confirmed` or `rejected`. */
  status?: string | undefined;
  /** Documents on or after it, `YYYY-MM-DD`. */
  from?: string | undefined;
  /** Documents on or before it, `YYYY-MM-DD`. */
  to?: string | undefined;
}

export interface NamedCallInput {
  /** Takes the place of `{id}` in the dialect's path. */
  id?: string | undefined;
  /** Sent under the dialect's names: in the query of a GET, in the body otherwise. */
  fields?: Readonly<Record<string, unknown>> | undefined;
}

/** What came of a receipt that was downloaded. */
export interface ReceiptFile {
  /** In bytes. */
  length: number;
  contentType?: string;
}

export type Result<Data> = ServiceResult<Data, OperationName>;

interface OutgoingRequest {
  method?: HttpRequest["method"];
  path: string;
  query?: Readonly<Record<string, string>>;
  bodyJson?: string | undefined;
  idempotencyKey?: string | undefined;
  /** More careful than its operation: under a key that the service may not know again. */
  atMostOnce?: boolean | undefined;
  /** Content types; default: JSON. */
  accept?: string | undefined;
  /** Takes the body of a success piece by piece, each waited for. */
  onBody?: ((piece: Uint8Array) => Promise<unknown>) | undefined;
}

export type ComplianceClient = ReturnType<typeof createComplianceClient>;

/**
 * The typed client of the Compliance API. One method, one request; nothing is repeated, nothing is global. Every method
 * rejects with a TransportError, a ComplianceApiError, an UnexpectedAnswerError or, before sending, a
 * CallInputError.
 */
export function createComplianceClient(options: ComplianceClientOptions) {
  const { keyReach, dialect } = options;

  /** @param request its path: default, as the document has it */
  function send<Data>(
    name: ShownOperation,
    { id, ...request }: Partial<OutgoingRequest> & { id?: string },
    read: ReadBody<Data> | ReadList<Data>,
    call: CallOptions,
  ): Promise<Result<Data>> {
    const shown = operation(name);
    const path = id === undefined ? shown.path : pathWithId(shown.path, id);
    return callOperation(options, shown, { path, ...request }, read, call);
  }

  const queryOf = ({ businessId }: BusinessCallOptions) => placeBusinessId(keyReach, businessId, "query").query;

  /** Of a request that holds nothing but the business. */
  function onlyBusiness({ businessId }: BusinessCallOptions, place: "query" | "body"): Partial<OutgoingRequest> {
    const { query, body } = placeBusinessId(keyReach, businessId, place);
    return { query, bodyJson: Object.keys(body).length === 0 ? undefined : composeBody(body) };
  }

  /** An operation that the document names without showing it. */
  async function sendDescribed<Data>(
    name: NamedOperation,
    input: NamedCallInput,
    read: ReadBody<Data>,
    call: BusinessCallOptions,
    more: Pick<OutgoingRequest, "accept" | "onBody"> = {},
  ): Promise<Result<Data>> {
    const { method, path, fields: names = {} } = requireDescribed(dialect, name);
    const sent: Record<string, unknown> = {};
    for (const [fieldName, value] of Object.entries(input.fields ?? {})) {
      const sentAs = Object.hasOwn(names, fieldName) ? names[fieldName] : fieldName;
      if (sentAs !== null && sentAs !== undefined && value !== undefined) sent[sentAs] = value;
    }
    const isRead = method === "GET";
    const described: Operation = {
      name,
      method: isRead ? "GET" : "POST",
      path,
      scope: null,
      riskClass: isRead ? "read" : "unrepeatableWrite",
      expects: { statuses: "2xx" },
      settings: [],
    };
    const inQuery = isRead ? Object.entries(sent).map(([key, value]) => [key, String(value)]) : [];
    const request: OutgoingRequest = {
      method,
      path: path.includes("{id}") ? pathWithId(path, input.id ?? "") : path,
      query: { ...queryOf(call), ...Object.fromEntries(inQuery) },
      bodyJson: isRead ? undefined : composeBody(sent),
      ...more,
    };
    return callOperation(options, described, request, read, call);
  }

  return {
    /** GET /v1/sales/{id}: a sale or a credit note. */
    getSale: async (id: string, call: BusinessCallOptions = {}) =>
      send("getSale", { id, query: queryOf(call) }, readDocument, call),

    /**
     * POST /v1/sales, verbatim, and without a key where none is given. With `atMostOnce` it goes as what cannot be
     * repeated goes: on a fresh connection, and after others have tried whether a failing service is back.
     */
    createSale: async (
      { path, query, bodyJson }: ComposedRequest,
      { idempotencyKey, atMostOnce, ...call }: Partial<KeyedCallOptions> & { atMostOnce?: boolean } = {},
    ) => send("createSale", { path, query, bodyJson, idempotencyKey, atMostOnce }, readDocument, call),

    /** POST /v1/credit-notes, verbatim. */
    createCreditNote: async (
      { path, query, bodyJson }: ComposedRequest,
      { idempotencyKey, ...call }: KeyedCallOptions,
    ) => send("createCreditNote", { path, query, bodyJson, idempotencyKey }, readDocument, call),

    /** POST /v1/sales/{id}/retry: a sale or a credit note that did not reach the tax authority, or was rejected. */
    retrySale: async (id: string, call: BusinessCallOptions = {}) =>
      send("retrySale", { id, ...onlyBusiness(call, dialect.retry.businessIdIn) }, readDocument, call),

    /**
     * POST /v1/stock/adjustments: a separate movement each time, not de-duplicated by the service. Sent once, on a fresh
     * connection.
     */
    adjustStock: async (input: AdjustStockInput, call: BusinessCallOptions = {}) => {
      const { itemId, action, quantity, unitPrice, referenceId } = input;
      const { businessIdIn, branch, branchBy, report } = dialect.stock;
      const { query, body } = placeBusinessId(keyReach, call.businessId, businessIdIn);
      const movement = { itemId, action, quantity, unitPrice, referenceId };
      const bodyJson = composeBody({ ...body, ...movement, ...branchField(branch, branchBy, input.branch) });
      return send("adjustStock", { query, bodyJson }, readAdjustment(input, report), call);
    },

    /** POST /v1/items/{id}/register. */
    registerItem: async ({ itemId: id, branch, force }: RegisterItemInput, call: BusinessCallOptions = {}) => {
      const { register } = dialect;
      const body: Record<string, unknown> = branchField(register.branch, register.branchBy, branch);
      if (force === true) {
        if (register.force === null)
          throw new CallInputError(
            "not-in-dialect",
            "registerItem: `force` was asked for, and the dialect has no name for it (register.force)",
          );
        body[register.force] = true;
      }
      return send("registerItem", { id, query: queryOf(call), bodyJson: composeBody(body) }, readItem, call);
    },

    /**
     * GET /v1/items: every item of the business that is not deleted, in one answer; rows that are not of their form are
     * told apart.
     */
    listItems: async (call: BusinessCallOptions = {}) => send("listItems", { query: queryOf(call) }, readItems, call),

    /** GET /v1/purchases: one page of the stored supplier invoices, newest first. */
    listPurchases: async (input: ListPurchasesInput, call: BusinessCallOptions = {}) => {
      const { purchases: names } = dialect;
      if (input.cursor !== undefined && names.cursor === null)
        // Sent without it, the first page would come again, for ever.
        throw new CallInputError(
          "not-in-dialect",
          "listPurchases: there is a next page, and the dialect has no name for the cursor (purchases.cursor)",
        );
      const query = { ...queryOf(call) };
      for (const [name, value] of Object.entries(underNames(names, input))) query[name] = String(value);
      return send("listPurchases", { query }, readPurchases, call);
    },

    /**
     * POST /v1/purchases/pull: the service fetches the latest invoices. Its answer is not shown: any 2xx counts that has
     * no body, or one as every success; it is passed on.
     */
    pullPurchases: async (call: BusinessCallOptions = {}) => {
      const { path, businessIdIn } = dialect.pull;
      return send("pullPurchases", { path, ...onlyBusiness(call, businessIdIn) }, anySuccess, call);
    },

    /** GET /v1/businesses: the businesses that the key can act for. Takes no businessId. */
    listBusinesses: async (call: CallOptions = {}) =>
      send("listBusinesses", {}, readBusinesses(dialect.businesses), call),

    /**
     * The answer with whatever names it has: for a caller who compares them with the dialect's, or only asks whether
     * the service serves.
     */
    listBusinessesAsSent: async (call: CallOptions = {}) => send("listBusinesses", {}, anyJson, call),

    /**
     * The receipt of a sale or credit note (`receiptDownload`), which the document names without showing it: byte by
     * byte as it comes.
     *
     * @param onBody takes each piece, and is waited for
     * @throws CallInputError `not-in-dialect`, saying how to switch it on
     */
    downloadReceipt: async (
      id: string,
      onBody: (piece: Uint8Array) => Promise<unknown>,
      call: BusinessCallOptions = {},
    ) => {
      const read: ReadBody<ReceiptFile> = ({ bodyLength, headers }) => {
        if (bodyLength === 0) return { issues: ["the body is empty"] };
        const contentType = headers["content-type"];
        return { data: { length: bodyLength, ...(contentType !== undefined && { contentType }) } };
      };
      const accept = dialect.receiptDownload?.accept;
      return sendDescribed("receiptDownload", { id }, read, call, { accept, onBody });
    },

    /**
     * An operation that the document names without showing it. Off until the dialect describes it; the answer is passed
     * on as parsed JSON, else as text.
     *
     * @throws CallInputError `not-in-dialect`, saying how to switch it on
     */
    callNamed: async (name: NamedOperation, input: NamedCallInput = {}, call: BusinessCallOptions = {}) => {
      const read: ReadBody<unknown> = ({ json, bodyText }) => ({ data: json === undefined ? bodyText : json });
      return sendDescribed(name, input, read, call);
    },
  };
}

/** Fiscal Compliance API, "Envelope"; an error that comes with the status of a success has no `data`. */
const anyEnvelope: ReadBody<unknown> = bodyOf(z.looseObject({ data: z.looseObject({}) }), (body) => body);

const anySuccess: ReadBody<unknown> = (answer) =>
  answer.bodyText.trim() === "" ? { data: undefined } : anyEnvelope(answer);

const EXAMPLES: Readonly<Record<NamedOperation, string>> = {
  createItem: '{"method":"POST","path":"/v1/items","fields":{}}',
  receiptDownload: '{"method":"GET","path":"/v1/sales/{id}/…","accept":"application/pdf"}',
  identity: '{"method":"GET","path":"/v1/…"}',
  lookups: '{"method":"GET","path":"/v1/…/{id}"}',
};

/** What the dialect says of an operation. @throws CallInputError `not-in-dialect`, saying how to switch it on */
export function requireDescribed<Name extends NamedOperation>(
  dialect: ComplianceDialect,
  name: Name,
): NonNullable<ComplianceDialect[Name]> {
  const described = dialect[name];
  if (described !== null) return described;
  throw new CallInputError(
    "not-in-dialect",
    `${name} is off: the API's document names it without showing its shape. Ask the provider for its method and path, and describe it in ` +
      `the connection's dialect, for example with this value of COMPLIANCE_DIALECT: {"${name}":${EXAMPLES[name]}}`,
  );
}

async function callOperation<Data>(
  { baseUrl, apiKey, auth = "x-api-key", transport, timeoutMs = 30_000 }: ComplianceClientOptions,
  operation: Operation,
  {
    method = operation.method,
    path,
    query = {},
    bodyJson,
    idempotencyKey,
    atMostOnce = false,
    accept,
    onBody,
  }: OutgoingRequest,
  read: ReadBody<Data> | ReadList<Data>,
  { signal, sendBefore }: CallOptions,
): Promise<Result<Data>> {
  const key = apiKey.reveal();
  const request = {
    operation: operation.name,
    method,
    url: new URL(`${baseUrl}${path}${queryString(query)}`),
    headers: {
      accept: accept ?? "application/json",
      "user-agent": "fiscalflow",
      ...(auth === "bearer" ? { authorization: `Bearer ${key}` } : { "x-api-key": key }),
      ...(bodyJson !== undefined && { "content-type": "application/json" }),
      ...(idempotencyKey !== undefined && { "idempotency-key": idempotencyKey }),
    },
    body: bodyJson,
    signal,
    sendBefore,
    timeoutMs,
    freshConnection: atMostOnce || operation.riskClass === "unrepeatableWrite",
  };
  const { statuses, whenReplayed = [] } = operation.expects;
  return callService(transport, request, bodyReader(read, { isList: LISTS.includes(operation.name), onBody }), {
    isSuccess: ({ status, replayed }) =>
      statuses === "2xx"
        ? status >= 200 && status <= 299
        : statuses.includes(status) || (replayed && whenReplayed.includes(status)),
    errorOf: (answer, meta) => apiErrorOf(operation, answer, meta),
    documentIdOf: ({ json }) => readSeenSale(field(field(json, "data"), "sale"))?.id,
  });
}

function queryString(query: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(query).map(([name, value]) => `${encodePart(name)}=${encodePart(value)}`);
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
}
