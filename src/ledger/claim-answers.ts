import { type RawBuilder, sql } from "kysely";

import { nairobiAndUtcTime, type OperatorDecision, type UnknownOutcome } from "../contract/index.ts";
import type { Queries } from "./database.ts";
import { clockMs } from "./statements.ts";

/** A claim that was taken, and that has no outcome: the call may have been carried out, or be on its way. */
export interface HeldClaim extends UnknownOutcome {
  generation: number;
}

/** @param holder workflow id and run id, for people */
export function heldAnswer(
  { generation, taken_at }: { generation: number; taken_at: Date },
  holder: string,
): HeldClaim {
  const takenAt = taken_at.toISOString();
  const message = `It was taken to be sent at ${nairobiAndUtcTime(taken_at.getTime())}, and no outcome was written down.`;
  return { kind: "unknown", generation, message, evidence: { takenAt, takenBy: holder, sentAtMs: taken_at.getTime() } };
}

/** As it was written down, with whatever the operator decided. */
export function wordOf({ note, by, atMs }: OperatorDecision): OperatorDecision {
  return { note, atMs, ...(by !== undefined && { by }) };
}

/** An earlier try, which an operator has decided upon, may still leave: the next one is not to be sent for so long. */
export interface MayLeave {
  kind: "may-leave";
  /** Milliseconds. */
  forMs: number;
}

/**
 * Why no try follows another one that is still under way. An execution that stands still between its claim and its
 * request (a stopped container, a suspended host) sends when it goes on, unless its deadline has passed. By then an
 * operator may have decided that it was not applied: Temporal gives an activity up after its start-to-close timeout, at
 * once where somebody ends it by hand, and a reset runs another one beside it. So the claim has the deadline too, by the
 * database's own clock, counted from when the claim is taken; the execution counts it from before it asked for the
 * claim (`Deadline` in src/http/), so that it is over there first. The next generation is taken only after it. An execution
 * that ends, whatever it has sent, takes its deadline out of the claim.
 */
export function untilItLeaves(mayLeaveForMs: number): RawBuilder<Date> {
  return sql<Date>`clock_timestamp() + ${Math.ceil(mayLeaveForMs)} * interval '1 millisecond'`;
}

/** Undefined where the execution that held the claim last sends no more. */
export async function mayLeave(
  db: Queries,
  { may_leave_until: until }: { may_leave_until: Date | null },
): Promise<MayLeave | undefined> {
  const forMs = until === null ? 0 : until.getTime() - (await clockMs(db));
  return forMs > 0 ? { kind: "may-leave", forMs } : undefined;
}
