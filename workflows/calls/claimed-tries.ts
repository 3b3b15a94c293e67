import { uuid4, workflowInfo } from "@temporalio/workflow";

import type { ClaimedTry } from "../../src/contract/index.ts";
import type { LostAnswer } from "./activity-failures.ts";

/**
 * What became of a try of a call that is sent at most once. Where its activity ended without an answer, its claim says
 * it: one that was never taken was never sent, and the reading closes it, so that a late attempt cannot send it either;
 * a written outcome is the answer; without one it is unknown (docs/architecture.md, "At most once").
 * @param readClaim reads it in the ledger
 */
export async function answerOf<Answer extends Said, Known extends Said>(
  sent: Answer | LostAnswer,
  readClaim: () => Promise<Known>,
): Promise<Answer | Known> {
  if (sent.kind !== "lost") return sent as Answer;
  const found = await readClaim();
  return found.kind === "unknown" ? { ...found, message: `${sent.message} ${found.message}` } : found;
}

type Said = { kind: string; message?: string };

/**
 * Numbers the tries of one call that is sent at most once. Each try has a generation, under which its activity takes
 * the claim in the ledger. A new generation begins only once it is known that the one before was not applied.
 */
export class ClaimGenerations {
  /** What the next activity claims. */
  current: ClaimedTry = { generation: 1, token: tokenOfThisRun() };

  /** @param notApplied known not to have been applied; default: the current one. Another run may have got further. */
  next(notApplied = 0): void {
    this.current = { generation: Math.max(notApplied, this.current.generation) + 1, token: tokenOfThisRun() };
  }
}

/**
 * Tells this run's try from that of any other run. A random text alone would not: a run that was reset replays the
 * random values that the earlier run drew before the reset point, and may have sent a movement under.
 */
function tokenOfThisRun(): string {
  return `${workflowInfo().runId}/${uuid4()}`;
}
