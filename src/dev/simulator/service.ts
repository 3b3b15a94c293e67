import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { IncomingHttpHeaders } from "node:http";

import type { CallEntry, CallLog } from "./call-log.ts";
import type { CallFaultKind, FaultOf, Faults, Service } from "./faults.ts";
import { type Quota, quotaHeaders, rateLimited } from "./keyring.ts";
import type { Changes, Timers } from "./later.ts";
import { ApiError, invalidRequest, notFound, RequestFields } from "./request.ts";

/** What a call looks like before anybody judged it. */
export interface RawCall {
  method: string;
  /** As it stands in the request line, with its query. */
  target: string;
  headers: IncomingHttpHeaders;
  params: Readonly<Record<string, string>>;
  query: Readonly<Record<string, string>>;
  /** The bytes as they came. */
  body: Buffer;
}

/** A call with a good key, a free place in its window and what its operation needs. */
export interface Call<Caller> {
  readonly caller: Caller;
  readonly raw: RawCall;
  /** Its place in the log. */
  readonly entry: CallEntry;
  readonly query: RequestFields;
  /** The body's fields; throws when it is not a JSON object. An empty body has none. */
  readonly body: () => RequestFields;
  /** Refuses fields and query parameters that were not read. */
  readonly refuseOthers: () => void;
}

export interface Answer {
  status: number;
  headers?: Record<string, string>;
  /** JSON, unless `contentType` says that it is the text to send. */
  body: unknown;
  contentType?: string;
}

/** What a call is about, for its place in the log and for the faults that match it. */
type Facts = Readonly<Record<string, string | null | undefined>>;

export interface Operation<Caller> {
  name: string;
  method: "GET" | "POST" | "PUT";
  path: string;
  /** Null where the document shows none: any good key may call it. */
  scope: string | null;
  /** As far as the request itself tells; never throws. */
  facts?: (raw: RawCall, body: Readonly<Record<string, unknown>>) => Facts;
  handle(call: Call<Caller>): Answer;
}

/** One of the two services: what its document says of every call. */
export interface ServedService<Caller> {
  readonly name: Service;
  readonly operations: readonly Operation<Caller>[];
  readonly settings: { readonly latencyMs: number; readonly refuseUnknownFields: boolean };
  readonly calls: CallLog;
  /** @throws ApiError 401 for a key that is not good, 429 where its application's window is used up */
  identify(raw: RawCall): { caller: Caller; application: string; quota: Quota | null };
  /** @throws ApiError 403 */
  requireAllowed(caller: Caller, operation: Operation<Caller>): void;
  errorBody(error: ApiError): unknown;
  /** On every answer that no fault has made. */
  commonHeaders(): Record<string, string>;
}

/** What both services share. */
export interface Surroundings {
  readonly nowMs: () => number;
  readonly timers: Timers;
  readonly changes: Changes;
  readonly faults: Faults;
}

const defaultSlowMs = 1000;
/** What a fault of the kind `rate-limit` answers where the document shows no limits and the fault no others. */
const noQuota: Quota = { limit: 0, remaining: 0, resetSeconds: 1 };

/** A text field of an unchecked body, for the facts of a call. */
export function textIn(body: Readonly<Record<string, unknown>>, name: string): string | null {
  const value = body[name];
  return typeof value === "string" ? value : null;
}

/** Rows that a list shows with other fields than they have, by their ids. */
export type OddRows = Map<string, Readonly<Record<string, unknown>>>;

export function shown(oddRows: OddRows, row: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return { ...row, ...oddRows.get(String(row["id"])) };
}

/** The service's operations on a server; every call is logged before anything else happens to it. */
export function addService<Caller>(
  server: FastifyInstance,
  service: ServedService<Caller>,
  around: Surroundings,
): void {
  const answer =
    (operation: Operation<Caller>) =>
    async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      const raw = rawCall(request);
      const key = raw.headers["idempotency-key"];
      const entry = service.calls.open({
        atMs: around.nowMs(),
        operation: operation.name,
        method: raw.method,
        path: raw.target.split("?")[0] ?? "",
        query: { ...raw.query },
        signed: raw.headers["x-signature"] !== undefined,
        idempotencyKey: typeof key === "string" ? key : null,
      });
      around.changes.announce();
      deliver(reply, await serve(service, around, operation, raw, entry), entry);
      around.changes.announce();
      return reply;
    };
  // Bodies stay bytes: a wrong body is for the operation to refuse, after the key was looked at.
  server.removeAllContentTypeParsers();
  server.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
  for (const operation of service.operations) {
    const url = operation.path.replaceAll(/\{(\w+)\}/g, ":$1");
    server.route({ method: operation.method, url, handler: answer(operation) });
  }
  const handle = (): never => {
    throw notFound("Path");
  };
  server.setNotFoundHandler(answer({ name: "unknown", method: "GET", path: "*", scope: null, handle }));
}

/**
 * The way of every call: latency, key, window, faults before, scope and operation, faults after. A genuine 401 or 429
 * comes before any fault: such a call reaches no operation.
 */
async function serve<Caller>(
  service: ServedService<Caller>,
  around: Surroundings,
  operation: Operation<Caller>,
  raw: RawCall,
  entry: CallEntry,
): Promise<Delivery> {
  await around.timers.delay(service.settings.latencyMs);
  const json = parsedBody(raw.body);
  const object: Record<string, unknown> = typeof json === "object" && json !== null ? { ...json } : {};
  const businessId = textIn(raw.query, "businessId") ?? textIn(object, "businessId");
  const facts = { businessId, ...operation.facts?.(raw, object) };
  service.calls.note(entry, facts);
  const identified = attempt(() => service.identify(raw));
  if (identified instanceof ApiError) {
    return refusal(service, identified);
  }
  const { caller, application, quota } = identified;
  entry.application = application;

  const struck = async (when: "before" | "after", real: Delivery | null): Promise<Delivery | null> => {
    const known = { ...facts, ...service.calls.factsOf(entry), application };
    const fault = around.faults.strike(service.name, operation.name, when, known);
    if (fault === undefined) return real;
    entry.fault = fault.kind;
    if (fault.kind !== "slow") return faultDelivery(fault, real?.kind === "answer" ? real : null, quota ?? noQuota);
    await around.timers.delay(fault.delayMs ?? defaultSlowMs);
    return real;
  };
  const instead = await struck("before", null);
  if (instead !== null) return instead;
  const answered = attempt(() => {
    service.requireAllowed(caller, operation);
    return operation.handle(callOf(service, caller, raw, entry, json));
  });
  // Written down at once: the document may change while a slow fault holds the answer back.
  const delivery = answered instanceof ApiError ? refusal(service, answered) : written(service, answered, quota);
  around.changes.announce();
  return (await struck("after", delivery)) ?? delivery;
}

function callOf<Caller>(
  { settings }: ServedService<Caller>,
  caller: Caller,
  raw: RawCall,
  entry: CallEntry,
  json: unknown,
): Call<Caller> {
  const query = new RequestFields(raw.query);
  let fields: RequestFields | undefined;
  return {
    caller,
    raw,
    entry,
    query,
    body: () => {
      if (json === undefined) throw invalidRequest("The body", "must be JSON");
      fields ??= new RequestFields(json);
      return fields;
    },
    refuseOthers: () => {
      if (!settings.refuseUnknownFields) return;
      fields?.refuseOthers();
      query.refuseOthers();
    },
  };
}

function rawCall(request: FastifyRequest): RawCall {
  const { method, url: target, headers, body } = request;
  const [params, query] = [stringsOf(request.params), stringsOf(request.query)];
  return { method, target, headers, params, query, body: Buffer.isBuffer(body) ? body : Buffer.alloc(0) };
}

function stringsOf(value: unknown): Record<string, string> {
  return Object.fromEntries(Object.entries(value ?? {}).map(([name, entry]) => [name, String(entry)]));
}

/** The body as JSON; undefined when it is none. */
export function parsedBody(body: Buffer): unknown {
  const text = body.toString();
  if (text.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}

function attempt<T>(act: () => T): T | ApiError {
  try {
    return act();
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

function refusal<Caller>(service: ServedService<Caller>, error: ApiError): Delivery {
  const headers = { ...JSON_HEADERS, ...service.commonHeaders(), ...error.headers };
  return { kind: "answer", status: error.status, headers, payload: JSON.stringify(service.errorBody(error)) };
}

/** The three headers go on successes; a 429 brings its own, and no other error has them (document, Limits). */
function written<Caller>(service: ServedService<Caller>, answer: Answer, quota: Quota | null): Delivery {
  const { status, headers, body, contentType } = answer;
  return {
    kind: "answer",
    status,
    headers: {
      "content-type": contentType ?? JSON_HEADERS["content-type"],
      ...service.commonHeaders(),
      ...headers,
      ...(quota !== null && quotaHeaders(quota)),
    },
    payload: contentType === undefined ? JSON.stringify(body) : String(body),
  };
}

interface Written {
  status: number;
  headers: Record<string, string>;
  payload: string;
}

/** What goes onto the connection. `half` promises the whole payload and breaks off in its middle. */
type Delivery = ({ kind: "answer" | "half" } & Written) | { kind: "drop" };

const JSON_HEADERS = { "content-type": "application/json; charset=utf-8" };

/** Where an operation is not processed, a fault disturbs this answer. */
const UNPROCESSED: Written = {
  status: 200,
  headers: JSON_HEADERS,
  payload: JSON.stringify({ data: { sale: { id: "sale_", status: "pending" }, items: [] } }),
};

function disturbed(value: unknown): unknown {
  if (typeof value === "number") return String(value);
  if (typeof value === "string") return value.length;
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value)) return Object.fromEntries(value.map((entry, index) => [String(index), disturbed(entry)]));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, disturbed(entry)]));
}

/** What a fault sends instead of the real answer (null when the operation was not processed). */
function faultDelivery(fault: FaultOf<CallFaultKind>, real: Written | null, quota: Quota): Delivery {
  const answer = real ?? UNPROCESSED;
  const status = fault.status ?? answer.status;
  const headers = { ...answer.headers, ...fault.headers };
  const instead = (code: number, named: Record<string, string>, body: unknown): Delivery => {
    return { kind: "answer", status: code, headers: { ...JSON_HEADERS, ...named }, payload: JSON.stringify(body) };
  };
  switch (fault.kind) {
    case "status": {
      const body = fault.body ?? { error: { code: "unavailable", message: "Injected fault" } };
      return instead(fault.status ?? 503, { ...fault.headers }, body);
    }
    case "rate-limit": {
      const error = rateLimited(quota, fault.retryAfterSeconds ?? quota.resetSeconds);
      const body = fault.body ?? { error: { code: error.code, message: error.message } };
      return instead(error.status, { ...error.headers, ...fault.headers }, body);
    }
    case "not-json": {
      const payload = typeof fault.body === "string" ? fault.body : "<html><body>Bad gateway</body></html>";
      return { kind: "answer", status, headers: { ...headers, "content-type": "text/html; charset=utf-8" }, payload };
    }
    case "wrong-types": {
      const body = fault.body ?? disturbed(JSON.parse(answer.payload));
      return { kind: "answer", status, headers, payload: JSON.stringify(body) };
    }
    case "half-body":
      return { kind: "half", status, headers, payload: answer.payload };
    case "drop":
    case "slow":
      return { kind: "drop" };
  }
}

/** Sends what a call comes to, whole, in half or not at all, and writes its status into the log where there is one. */
function deliver(reply: FastifyReply, delivery: Delivery, entry: { status: number | null }): void {
  if (delivery.kind === "answer") {
    entry.status = delivery.status;
    void reply.code(delivery.status).headers(delivery.headers).send(delivery.payload);
    return;
  }
  reply.hijack();
  if (delivery.kind === "drop") {
    reply.raw.destroy();
    return;
  }
  const payload = Buffer.from(delivery.payload);
  reply.raw.writeHead(delivery.status, { ...delivery.headers, "content-length": payload.length });
  reply.raw.write(payload.subarray(0, Math.floor(payload.length / 2)), () => reply.raw.destroy());
}
