import { type RawBuilder, sql } from "kysely";

import {
  type ClaimedTry,
  nairobiAndUtcTime,
  type OperatorDecision,
  type SupersededTry,
  type TakingExecution,
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

interface NotDone {
  generation: number;
  outcome: unknown;
  decision: unknown;
}

/** Of a try that is known not to be carried out. A word that stands beside an answer was about an earlier one. */
export function supersededAnswer({ generation, outcome, decision }: NotDone): SupersededTry {
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
 * Why nobody is asked about a call that is still under way, so that no try follows it either. Temporal gives an activity
 * up at once where somebody ends it by hand, and a reset runs another one beside it; a worker that stands still (a
 * stopped container, a suspended host) sends when it goes on, unless its deadline has passed. A person who looks too
 * early finds nothing, and what he decides is wrong as soon as the call arrives. So the claim says until when its
 * execution may be at it, by the database's own clock, counted from when the claim is taken; the execution counts from
 * before it asked for the claim (`Deadline` in src/http/), so that it is over there first. Until then the claim is no
 * unknown outcome. An execution that ends, whatever it has sent, takes this time out of the claim.
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

/** Send now. */
export interface Taken {
  kind: "taken";
}

export type Settled = "settled" | "contradicted" | "not-held";

export interface TakeClaim extends ClaimedTry, TakingExecution {
  writer: Writer;
  nowMs: number;
}

/**
 * The claims of one table, as their room offers them, in the contract's words. Every function throws
 * LedgerUnavailableError when the ledger cannot answer, and may then be called again as it was.
 */
export interface ClaimsOf<Key, Take, Outcome, Decide, KnownCall, Refused = never> {
  take(request: Take): Promise<Taken | KnownCall | UnderWay | Refused>;
  /** The execution has ended without a word for the claim, and sends no more. */
  ended(request: Key & ClaimedTry & Pick<TakingExecution, "execution">): Promise<void>;
  /**
   * Records what came of a try. Idempotent. `contradicted`: the same call had another word on it (an operator's, a
   * tombstone, another answer); it is marked as disputed and both are kept, and what the service carried out counts.
   * `not-held`: this try never took it.
   */
  settle(request: Key & ClaimedTry & { outcome: Outcome; writer: Writer }): Promise<Settled>;
  /**
   * Asked after an activity ended without an answer. Where nothing of this generation was taken a tombstone stands from
   * now on, so that a late attempt's `take` gets `superseded`. `under-way`: ask again, it is not over yet. A newer
   * generation than asked for: the answer is about the newest.
   */
  readOrBury(request: Key & { generation: number; writer: Writer; nowMs: number }): Promise<KnownCall | UnderWay>;
  /**
   * An operator's decision. The answer of the service wins over it, and so do an earlier decision of an operator, and a
   * newer try, of which the word says nothing: then that is the answer. Idempotent for the same word.
   */
  decide(request: Decide): Promise<"decided" | KnownCall>;
}
