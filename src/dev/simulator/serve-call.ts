import { admit, identify, parsedBody } from "./admit-call.ts";
import { ApiError } from "./api-error.ts";
import type { CallEntry } from "./call-log.ts";
import { faultDelivery, type Delivery } from "./fault-delivery.ts";
import type { Caller } from "./keyring.ts";
import { textIn, type Answer, type Operation, type RawCall } from "./operation.ts";
import { quotaHeaders, type Quota } from "./rate-windows.ts";
import type { World } from "./world.ts";

const defaultSlowMs = 1000;

function refusal(error: ApiError): Answer {
  return {
    status: error.status,
    headers: { ...error.headers },
    body: { error: { code: error.code, message: error.message, ...error.extras } },
  };
}

/** The three headers go on successes; a 429 brings its own, and no other error has them (document, Limits). */
function withQuota(answer: Answer, quota: Quota): Answer {
  return answer.status < 400 ? { ...answer, headers: { ...answer.headers, ...quotaHeaders(quota) } } : answer;
}

/** Writes the answer down at once: the document may change while a slow fault holds the answer back. */
function written(answer: Answer): Delivery {
  return {
    kind: "answer",
    status: answer.status,
    headers: {
      "content-type": answer.contentType ?? "application/json; charset=utf-8",
      ...answer.headers,
    },
    payload: answer.contentType === undefined ? JSON.stringify(answer.body) : String(answer.body),
  };
}

function process(world: World, operation: Operation, caller: Caller, raw: RawCall, entry: CallEntry): Answer {
  try {
    return operation.handle(admit(world, operation, caller, raw, entry));
  } catch (error) {
    if (error instanceof ApiError) return refusal(error);
    throw error;
  }
}

function factsOf(operation: Operation, raw: RawCall): ReturnType<NonNullable<Operation["facts"]>> {
  const json = parsedBody(raw.body);
  const body = typeof json === "object" && json !== null ? Object.fromEntries(Object.entries(json)) : {};
  const businessId = textIn(raw.query, "businessId") ?? textIn(body, "businessId");
  return { businessId, ...operation.facts?.(raw.params, body) };
}

/**
 * The way of every call: latency, key, window, faults before, scope and operation, faults after.
 * A genuine 401 or 429 comes before any fault: such a call reaches no operation.
 */
export async function serveCall(world: World, operation: Operation, raw: RawCall, entry: CallEntry): Promise<Delivery> {
  await world.timers.delay(world.settings.latencyMs);
  world.calls.note(entry, factsOf(operation, raw));
  const identified = identify(world, raw);
  if (identified instanceof ApiError) return written(refusal(identified));
  const { caller, quota } = identified;
  entry.application = caller.application.name;

  const before = world.faults.strike(operation.name, "before", entryFacts(entry));
  if (before !== undefined) {
    entry.fault = before.kind;
    if (before.kind !== "slow") return faultDelivery(before, null, quota);
    await world.timers.delay(before.delayMs ?? defaultSlowMs);
  }
  const delivery = written(withQuota(process(world, operation, caller, raw, entry), quota));
  world.changes.announce();

  const after = world.faults.strike(operation.name, "after", entryFacts(entry));
  if (after === undefined) return delivery;
  entry.fault = after.kind;
  if (after.kind !== "slow") return faultDelivery(after, delivery, quota);
  await world.timers.delay(after.delayMs ?? defaultSlowMs);
  return delivery;
}

/** Null is "not known", which no match asks for. */
function entryFacts(
  entry: CallEntry,
): Pick<CallEntry, "businessId" | "invoice" | "saleId" | "itemId" | "referenceId" | "idempotencyKey"> {
  const { businessId, invoice, saleId, itemId, referenceId, idempotencyKey } = entry;
  return { businessId, invoice, saleId, itemId, referenceId, idempotencyKey };
}
