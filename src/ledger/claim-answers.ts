import { nairobiAndUtcTime, type OperatorDecision, type UnknownOutcome } from "../contract/index.ts";

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
