import type { SettledEdge } from "../ledger/index.ts";
import type { Budget } from "./budget.ts";
import { type Answer, rateLimitOf, waitOf } from "./events.ts";
import type { FleetSettlement } from "./fleet-count.ts";
import { readEdge, refusedTooEarly, type Window } from "./window.ts";

/** What an answer tells the fleet's count, by what was known before it. */
export function fleetSettlement(
  answer: Answer,
  { window: known, rules }: Pick<Budget, "window" | "rules">,
  nowMs: number,
): FleetSettlement {
  const { status, sentAtMs, answeredAtMs } = answer;
  const later = status === 429 ? refusedTooEarly(known, sentAtMs, waitOf(answer)) : undefined;
  if (later) return { edge: edgeOf("is", later, nowMs) };
  const rateLimit = rateLimitOf(answer, rules);
  if (!rateLimit) return {};
  const { limit, remaining, resetSeconds } = rateLimit;
  const { says, window } = readEdge(known, { sentAtMs, answeredAtMs, resetSeconds });
  if (says === "unclear") return {};
  const counted = { used: limit - Math.min(remaining, limit), limit };
  return says === "same" ? { counted } : { counted, edge: edgeOf(says, window, nowMs) };
}

function edgeOf(says: SettledEdge["says"], { endsAtMs, lengthMs }: Window, nowMs: number): SettledEdge {
  return { says, endsInMs: endsAtMs - nowMs, lengthMs };
}
