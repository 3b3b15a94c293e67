import type { SettledEdge } from "../ledger/index.ts";
import { type Answer, toldBy, waitOf } from "./events.ts";
import type { ToldToFleet } from "./fleet-count.ts";
import { readEdge, refusedTooEarly, type Window } from "./window.ts";

/** What an answer tells the fleet's count, by the window that was known before it. */
export function toldToFleet(answer: Answer, known: Window, nowMs: number): ToldToFleet {
  const { status, sentAtMs, answeredAtMs } = answer;
  const later = status === 429 ? refusedTooEarly(known, sentAtMs, waitOf(answer)) : undefined;
  if (later) return { edge: edgeOf("is", later, nowMs) };
  const rateLimit = toldBy(answer);
  if (!rateLimit) return {};
  const { limit, remaining, resetSeconds } = rateLimit;
  const { says, window } = readEdge(known, { sentAtMs, answeredAtMs, resetSeconds });
  if (says === "unclear") return {};
  const told = { used: limit - Math.min(remaining, limit), limit };
  return says === "same" ? { told } : { told, edge: edgeOf(says, window, nowMs) };
}

function edgeOf(says: SettledEdge["says"], { endsAtMs, lengthMs }: Window, nowMs: number): SettledEdge {
  return { says, endsInMs: endsAtMs - nowMs, lengthMs };
}
