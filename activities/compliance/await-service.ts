import { SHOWN_OPERATIONS } from "../../src/compliance/index.ts";
import type { AwaitServiceRequest, ComplianceActivities, ServiceTrouble } from "../../src/contract/index.ts";
import { afterTroubleMs, stillWaiting } from "../failure.ts";
import { type Standing, standingNow } from "../service-wait.ts";
import { refusalOf, throwIfRetryable } from "../classified-call.ts";
import { type ActivityContext, callAndClassify, type ComplianceRuntime, keyCallOf, runtimeOf } from "./calls.ts";
import { KeyHeldError } from "./credential-circuit-breaker.ts";

/**
 * The wait of whatever the service does not take now (docs/decisions/0013). A refused key is asked for by a read that
 * changes nothing. What a key may not do only a call of that kind can find out: the wait ends with the first one that
 * is accepted, whoever makes it, and now and then for a try of its own.
 */
export function createServiceWaitActivities(context: ActivityContext) {
  const { random } = context;
  return {
    async awaitService(request) {
      const runtime = runtimeOf(context, request.connection);
      const standing = standingNow(request, random);
      const trouble = troubleOf(runtime, request);
      if (standing.tooSoonForMs > 0) throw stillWaiting("It was tried a moment ago.", standing.tooSoonForMs, trouble);
      const { refused } = request;
      if (refused?.status === 401) {
        if (runtime.credentialBreaker.acceptedAfter(request.triedAtMs)) return;
        await lookedAtKey(runtime, request, standing, random);
      } else if (refused) {
        const operation = SHOWN_OPERATIONS.find((name) => name === refused.operation);
        const call = operation && keyCallOf(operation, request);
        if (call && runtime.credentialBreaker.acceptedAfter(request.triedAtMs, call)) return;
        const held = call !== undefined && runtime.credentialBreaker.holds(call);
        if (held || standing.ownTurnInMs > 0) throw stillWaiting("The key is refused.", standing.lookPauseMs, trouble);
      } else {
        if (standing.ownTurnInMs > 0) throw stillWaiting("It was tried a while ago.", standing.ownTurnInMs, trouble);
        await lookedAtKey(runtime, request, standing, random);
      }
    },
  } satisfies Partial<ComplianceActivities>;
}

/** Returns where the service answers, and takes the key. */
async function lookedAtKey(
  runtime: ComplianceRuntime,
  request: AwaitServiceRequest,
  { lookPauseMs }: Standing,
  random: () => number,
): Promise<void> {
  const classified = await callAndClassify(runtime, "listBusinesses", request, () => runtime.client.listBusinesses());
  const { meaning, error, message } = classified;
  if (meaning.kind === "transient") {
    throw stillWaiting(message, afterTroubleMs(lookPauseMs, classified.error, random), classified.trouble);
  }
  throwIfRetryable(classified, random);
  if (meaning.kind !== "configuration") return;
  const held = error instanceof KeyHeldError ? error : undefined;
  // A key that may not list businesses is a good key.
  if (request.refused === undefined || refusalOf(classified).status !== 401) return;
  const pauseMs = Math.round(Math.max(lookPauseMs, held?.heldForMs ?? 0));
  throw stillWaiting(message, pauseMs, troubleOf(runtime, request));
}

/** Since when the key is refused the waiting workflow knows best: it outlives this process. */
function troubleOf({ health }: ComplianceRuntime, request: AwaitServiceRequest): ServiceTrouble | undefined {
  return request.refused ? { kind: "refused", sinceMs: request.sinceMs } : health.trouble;
}
