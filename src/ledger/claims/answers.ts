import { type RawBuilder, sql } from "kysely";

import {
  nairobiAndUtcTime,
  type OperatorDecision,
  type SupersededTry,
  type UnknownOutcome,
} from "../../contract/index.ts";
import type { Queries } from "../database.ts";
import type { Writer } from "../events/chain.ts";
import { clockMs } from "../statements.ts";

/** A claim that was taken, and that has no outcome: the call may have been carried out, or be on its way. */
export interface HeldClaim extends UnknownOutcome {
  generation: number;
}

interface Held {
  generation: number;
  taken_at: Date;
  workflow_id: string;
  run_id: string;
}

export function heldAnswer({ generation, taken_at, workflow_id: workflowId, run_id: runId }: Held): HeldClaim {
  const takenAt = taken_at.toISOString();
  const message = `It was taken to be sent at ${nairobiAndUtcTime(taken_at.getTime())}, and no outcome was written down.`;
  const takenBy = holderText({ workflowId, runId });
  return { kind: "unknown", generation, message, evidence: { takenAt, takenBy, sentAtMs: taken_at.getTime() } };
}

/** For people. */
export function holderText({ workflowId, runId }: Writer): string {
  return `${workflowId} (run ${runId})`;
}

interface Settled {
  generation: number;
  outcome: unknown;
  decision: unknown;
}

/** Of a try that is known not to be carried out. A word that stands beside an answer was about an earlier one. */
export function supersededAnswer({ generation, outcome, decision }: Settled): SupersededTry {
  const isDecided = decision !== null && outcome === null;
  return { kind: "superseded", generation, ...(isDecided && { word: wordOf(decision as OperatorDecision) }) };
}

/** As it was written down, with whatever the operator decided. */
export function wordOf({ note, by, atMs }: OperatorDecision): OperatorDecision {
  return { note, atMs, ...(by !== undefined && { by }) };
}

/** An execution that has not ended may still send, or wait for its answer, for so long: nobody is to decide upon it. */
export interface UnderWay {
  kind: "under-way";
  /** Milliseconds. */
  forMs: number;
}

/**
 * Why nobody is asked about a call that is still under way, so that no try follows it either. Temporal gives an activity up at once
 * where somebody ends it by hand, and a reset runs another one beside it; a worker that stands still (a stopped
 * container, a suspended host) sends when it goes on, unless its deadline has passed. A person who looks too early finds
 * nothing, and what he decides is wrong as soon as the call arrives. So the claim says until when its execution may be at
 * it, by the database's own clock, counted from when the claim is taken; the execution counts from before it asked for
 * the claim (`Deadline` in src/http/), so that it is over there first. Until then the claim is no unknown outcome. An
 * execution that ends, whatever it has sent, takes this time out of the claim.
 */
export function untilItIsOver(underWayForMs: number): RawBuilder<Date> {
  return sql<Date>`clock_timestamp() + ${Math.ceil(underWayForMs)} * interval '1 millisecond'`;
}

/** Undefined where the execution that held the claim last is over. */
export async function underWay(
  db: Queries,
  { under_way_until: until }: { under_way_until: Date | null },
): Promise<UnderWay | undefined> {
  const forMs = until === null ? 0 : until.getTime() - (await clockMs(db));
  return forMs > 0 ? { kind: "under-way", forMs } : undefined;
}
