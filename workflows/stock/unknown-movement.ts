import { CancellationScope, condition } from "@temporalio/workflow";

import type {
  AppliedMovement,
  Branch,
  PersonsWord,
  SaidApplied,
  StockMovement,
  SupersededTry,
  UnknownMovement,
  WatchMovementResult,
} from "../../src/contract/index.ts";
import type { SaleContext } from "../sale/state.ts";
import { ledger } from "../proxies.ts";

/** How an unknown movement came out: applied, or not applied by the try of that generation and all before it. */
type MovementFate = AppliedMovement | SaidApplied | SupersededTry;

/**
 * Shows a movement of which it is not known whether it was applied, until a person says so, or until the outcome turns
 * up in its claim. The sale goes on meanwhile. The balance of the item is shown as evidence, and decides nothing.
 */
export async function fateOfUnknown(
  work: SaleContext,
  movement: StockMovement,
  generation: number,
  branch: Branch | undefined,
  { message, evidence }: UnknownMovement,
): Promise<MovementFate> {
  const { run } = work;
  movement.state = "unknown";
  delete movement.decision;
  const { itemId, action, quantity, unitPrice, sentAtMs, branchId } = movement;
  const sent = { itemId, action, quantity, unitPrice, sentAtMs, ...(branchId !== undefined && { branchId }) };
  const key = run.raise({
    code: "stock-unknown",
    subject: movement.referenceId,
    message: `${action} ${quantity} of ${itemId} was sent, and no answer says whether it was applied. ${message}`,
    evidence: { ...sent, ...evidence },
  });
  const watched = watch(work, movement, generation, key);
  const decision = (): StockMovement["decision"] => movement.decision;
  await condition(() => decision() !== undefined || watched.fate !== undefined);
  watched.end();
  const fate = watched.fate ?? (await said(work, movement, generation, branch));
  if (fate.kind !== "superseded") movement.state = "applied";
  run.clear(key);
  run.stockMoved();
  return fate;
}

/**
 * A person's word is written down before anything follows from it. The service's own outcome, where it turned up,
 * outweighs it.
 */
async function said(
  work: SaleContext,
  movement: StockMovement,
  generation: number,
  branch: Branch | undefined,
): Promise<MovementFate> {
  const { applied = false, note = "", by, atMs = 0 } = movement.decision ?? {};
  const word: PersonsWord = { note, atMs, ...(by !== undefined && { by }) };
  const fate: MovementFate = applied ? { kind: "said-applied", word } : { kind: "superseded", generation, word };
  const { referenceId, itemId, action, quantity, unitPrice } = movement;
  const asked = { itemId, action, quantity, unitPrice, ...(branch && { branch }) };
  const kept = await ledger.decideMovement({
    ...work.target,
    referenceId,
    generation,
    applied,
    word,
    movement: asked,
  });
  return kept.kind === "applied" || kept.kind === "superseded" ? kept : fate;
}

interface Watched {
  fate: MovementFate | undefined;
  end: () => void;
}

/**
 * Looks into the claim, as an activity that is tried again: an outcome that was written late, and the balance of a
 * later answer.
 */
function watch(work: SaleContext, movement: StockMovement, generation: number, key: string): Watched {
  const { referenceId, action, quantity, sentAtMs = Date.now() } = movement;
  const scope = new CancellationScope();
  const watched: Watched = { fate: undefined, end: () => scope.cancel() };
  const look = (balanceShown: boolean): Promise<WatchMovementResult> =>
    ledger.watchMovement({
      ...work.target,
      referenceId,
      generation,
      movement: { action, quantity },
      sinceMs: sentAtMs,
      balanceShown,
    });
  const looking = scope.run(async () => {
    let result = await look(false);
    if (result.kind === "balance") {
      work.run.addEvidence(key, result.evidence);
      result = await look(true);
    }
    if (result.kind !== "balance") watched.fate = result;
  });
  // Ended by the decision; the decision then stands alone.
  looking.catch(() => undefined);
  return watched;
}
