import type { FastifyInstance, FastifyRequest } from "fastify";

import { deliver, stringsOf } from "../deliver.ts";
import { type Delivery, faultDelivery } from "../fault-delivery.ts";
import { type AccountingCall, type AccountingWorld, logCall } from "./accounting-world.ts";
import { authenticate } from "./authenticate.ts";
import { type AccountingRoute, accountingRoutes } from "./operations.ts";
import { Refusal } from "./refusal.ts";

const defaultSlowMs = 1000;
/** What a fault of the kind `rate-limit` answers where it does not say: the document shows no limits. */
const quota = { allowed: false, limit: 0, remaining: 0, resetSeconds: 1 };

/**
 * The accounting service's operations on a server, under its own prefix; every call is logged before anything else
 * happens to it.
 */
export function addAccountingRoutes(server: FastifyInstance, world: AccountingWorld): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
  for (const route of accountingRoutes) {
    server.route({
      method: route.method,
      url: route.path,
      handler: async (request, reply) => {
        const call = logCall(world, arrival(request, route, world.nowMs()));
        world.changes.announce();
        deliver(reply, await serve(world, route, request, call), call);
        world.changes.announce();
        return reply;
      },
    });
  }
  server.setNotFoundHandler(async (_request, reply) => {
    await reply.code(404).send({ message: "There is no such path" });
  });
}

function arrival(request: FastifyRequest, route: AccountingRoute, atMs: number): AccountingCall {
  const query = stringsOf(request.query);
  const signed = request.headers["x-signature"] !== undefined;
  const path = request.url.split("?")[0] ?? "";
  const { name, method } = route;
  return { atMs, operation: name, method, path, query, status: null, application: null, signed, fault: null };
}

/**
 * Latency, key and signature, faults before, authorization and operation, faults after. A genuine 401 comes before any
 * fault.
 */
async function serve(
  world: AccountingWorld,
  route: AccountingRoute,
  request: FastifyRequest,
  call: AccountingCall,
): Promise<Delivery> {
  const { settings, dialect, faults } = world;
  await world.timers.delay(settings.latencyMs);
  const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  const { headers } = request;
  // Where the service is mounted is part of the path that was signed.
  const arrived = { method: request.method, target: request.url, headers, body };
  const how = { withQuery: dialect.signature.query, required: settings.requireSignature, nowMs: world.nowMs() };
  const identified = attempt(() => authenticate(arrived, world.applications, how));
  if (identified instanceof Refusal) return refusal(identified, world.nowMs());
  call.application = identified.name;

  const params = stringsOf(request.params);
  const names = dialect.billPayments;
  const facts = {
    syncBatchId: params["syncBatchId"],
    page: call.query[names.page],
    status: names.status === null ? undefined : call.query[names.status],
  };
  const before = faults.strike(route.name, "before", facts);
  if (before !== undefined) {
    call.fault = before.kind;
    if (before.kind !== "slow") return faultDelivery(before, null, quota);
    await world.timers.delay(before.delayMs ?? defaultSlowMs);
  }
  const answer = attempt(() => {
    if (identified.denied.includes(route.name)) throw new Refusal(403, "Not authorized for this resource");
    return { body: route.handle(world, { application: identified, params, query: call.query }) };
  });
  const delivery =
    answer instanceof Refusal ? refusal(answer, world.nowMs()) : written(200, answer.body, world.nowMs());
  world.changes.announce();
  const after = faults.strike(route.name, "after", facts);
  if (after === undefined) return delivery;
  call.fault = after.kind;
  if (after.kind !== "slow") return faultDelivery(after, delivery, quota);
  await world.timers.delay(after.delayMs ?? defaultSlowMs);
  return delivery;
}

function attempt<T>(act: () => T): T | Refusal {
  try {
    return act();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

function refusal({ status, message }: Refusal, nowMs: number): Delivery {
  return written(status, { message }, nowMs);
}

function written(status: number, body: unknown, nowMs: number): Delivery {
  const headers = { "content-type": "application/json; charset=utf-8", date: new Date(nowMs).toUTCString() };
  return { kind: "answer", status, headers, payload: JSON.stringify(body) };
}
