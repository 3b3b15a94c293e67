import { ApiError, forbidden, invalidRequest } from "./api-error.ts";
import { businessFor } from "./business-access.ts";
import type { CallEntry } from "./call-log.ts";
import type { Caller } from "./keyring.ts";
import type { AdmittedCall, Operation, RawCall } from "./operation.ts";
import { quotaHeaders, type Quota } from "./rate-windows.ts";
import { RequestFields } from "./request-fields.ts";
import type { World } from "./world.ts";

/** 401 or 429, or the caller with what is left of its window. */
export function identify(world: World, call: RawCall): { caller: Caller; quota: Quota } | ApiError {
  const nowMs = world.nowMs();
  const caller = world.keyring.caller(call.headers, nowMs);
  if (caller === undefined) return new ApiError(401, "invalid_api_key", "The API key is missing or not valid");
  const { name, limitPerWindow = world.settings.limitPerWindow } = caller.application;
  const quota = world.windows.take(name, limitPerWindow, world.settings.windowMs, nowMs);
  if (quota.allowed) return { caller, quota };
  world.calls.countRateLimited();
  return rateLimited(quota, quota.resetSeconds);
}

export function rateLimited(quota: Quota, retryAfterSeconds: number): ApiError {
  return new ApiError(
    429,
    "rate_limited",
    `The ${quota.limit} requests for this minute are used up`,
    {},
    {
      ...quotaHeaders({ ...quota, remaining: 0 }),
      "retry-after": String(retryAfterSeconds),
    },
  );
}

/** The body as JSON; undefined when it is none. */
export function parsedBody(text: string): unknown {
  if (text.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}

/** Checks the scope and gives the handler its view of the call. */
export function admit(
  world: World,
  operation: Operation,
  caller: Caller,
  raw: RawCall,
  entry: CallEntry,
): AdmittedCall {
  if (operation.scope !== null && !caller.scopes.includes(operation.scope))
    throw forbidden(`This key lacks the scope ${operation.scope}`);
  const query = new RequestFields(raw.query);
  const json = parsedBody(raw.body);
  let fields: RequestFields | undefined;
  const body = (): RequestFields => {
    if (json === undefined) throw invalidRequest("The body", "must be JSON");
    fields ??= new RequestFields(json);
    return fields;
  };
  return {
    caller,
    params: raw.params,
    headers: raw.headers,
    query,
    body,
    rawBody: () => json,
    business: () => {
      const named = (operation.businessIdIn === "query" ? query : body()).optionalText("businessId", 200);
      const business = businessFor(world.businesses, caller, named);
      world.calls.note(entry, { businessId: business.id });
      return business;
    },
    refuseOtherQuery: () => query.refuseOthers(world.settings.refuseUnknownFields),
    note: (facts) => world.calls.note(entry, facts),
    touch: (record) => {
      record.calls.push(entry);
      world.calls.note(entry, { invoice: record.sale.traderInvoiceNumber, saleId: record.sale.id });
    },
    markReplayed: () => {
      entry.replayed = true;
    },
  };
}
