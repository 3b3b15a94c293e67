import { condition, workflowInfo } from "@temporalio/workflow";

import type {
  Branch,
  KnownMovement,
  OperatorDecision,
  StockMovement,
  UnknownOutcome,
  WatchMovementResult,
} from "../../src/contract/index.ts";
import { Running } from "../operator/attention-list.ts";
import { ledger } from "../proxies.ts";
import type { SaleContext } from "../sale/state.ts";

/** What an unknown movement turned out to be: applied, or not applied by that generation and all before it. */
type MovementResolution = Exclude<KnownMovement, UnknownOutcome>;

/**
 * Shows the attention `stock-unknown` until an operator decides (`resolveStock`), or until the outcome is written into
 * the claim after all. The sale goes on meanwhile. The item's balance is shown as evidence, and decides nothing.
 */
export async function resolveUnknownMovement(
  context: SaleContext,
  movement: StockMovement,
  branch: Branch | undefined,
  { generation, message, evidence }: Omit<UnknownOutcome, "kind"> & { generation: number },
): Promise<MovementResolution> {
  const { run } = context;
  delete movement.decision;
  run.moved(movement, "unknown");
  const { itemId, action, quantity, unitPrice, sentAtMs, branchId } = movement;
  const sent = { itemId, action, quantity, unitPrice, sentAtMs, ...(branchId !== undefined && { branchId }) };
  const key = run.raise({
    code: "stock-unknown",
    subject: movement.referenceId,
    message: `${action} ${quantity} of ${itemId} was sent, and no answer says whether it was applied. ${message}`,
    evidence: { ...sent, ...evidence },
    sinceMs: sentByEarlierRun(evidence) ?? Date.now(),
  });
  const watching = new Running(() => watchClaim(context, movement, generation, key));
  const decision = (): StockMovement["decision"] => movement.decision;
  await condition(() => decision() !== undefined || watching.result !== undefined);
  const { result } = watching;
  await watching.end();
  const resolution = result ?? (await recordStockDecision(context, movement, generation, branch));
  if (resolution.kind === "applied" || resolution.kind === "said-applied") movement.state = "applied";
  run.clear(key);
  run.stockMoved();
  // Of another run's newer try the word says nothing: whether that one was applied is asked for itself.
  if ("word" in resolution && resolution.word && decision()) watchDecision(context, movement);
  if (resolution.kind === "unknown")
    return await resolveUnknownMovement(context, movement, branch, { generation, ...resolution });
  return resolution;
}

/**
 * When a run sent it that this one carries on: its answer has been missing since. What this run sends is in question
 * only once its answer is lost, by which the repeat of an earlier decision is told from an answer to this question.
 */
function sentByEarlierRun({ sentAtMs }: Record<string, unknown>): number | undefined {
  return typeof sentAtMs === "number" && sentAtMs < workflowInfo().startTime.getTime() ? sentAtMs : undefined;
}

/** Writes the operator's decision into the claim before acting on it. What the claim has by now outweighs it. */
async function recordStockDecision(
  context: SaleContext,
  movement: StockMovement,
  generation: number,
  branch: Branch | undefined,
): Promise<KnownMovement> {
  const { applied = false, note = "", by, atMs = 0, contradicts } = movement.decision ?? {};
  const word: OperatorDecision = { note, by, atMs };
  const { referenceId, itemId, action, quantity, unitPrice } = movement;
  const sent = { itemId, action, quantity, unitPrice, branch };
  const decided = { ...context.target, referenceId, generation, applied, word, contradicts, movement: sent };
  const kept = await ledger.decideMovement("Write the operator's decision into the movement's claim", decided);
  switch (kept.kind) {
    case "said-applied":
      return { kind: "said-applied", word: kept.word ?? word };
    case "said-not-applied":
      return { kind: "superseded", generation, word };
    default:
      return kept;
  }
}

/**
 * Shows the operator's decision that the claim has. One given in this run is in its list of decisions already, one from
 * another run is added.
 */
export function adoptDecision(
  { run }: SaleContext,
  movement: StockMovement,
  word: OperatorDecision,
  applied: boolean,
): void {
  const { note, by, atMs } = word;
  const known = run.decisions.some((one) => one.subject === movement.referenceId && one.atMs === atMs);
  const contradicts = movement.decision?.atMs === atMs ? movement.decision.contradicts : undefined;
  movement.decision = { applied, note, by, atMs, contradicts };
  if (known) return;
  const answer = applied ? "applied" : "not applied";
  run.decide({ update: "resolveStock", code: "stock-unknown", subject: movement.referenceId, answer, note, by }, atMs);
}

/**
 * Once an operator has decided, a late answer can still come: of a request that left before its worker stood still. It is
 * watched for as long as the run is open, and never holds it open; reports and `doctor` show it afterwards.
 */
export function watchDecision({ run, target }: SaleContext, { referenceId }: StockMovement): void {
  const watched = { ...target, referenceId, sinceMs: Date.now() };
  const summary = "Watch for an answer that contradicts the decision: each attempt is one look";
  void ledger.watchDecision(summary, watched).then(
    ({ decision, outcome }) => {
      const service =
        outcome.kind === "applied"
          ? `the service applied it as ${outcome.movementId}`
          : `it was not applied: ${outcome.message}`;
      const said = decision
        ? `An operator decided that it was ${decision.applied ? "" : "not "}applied`
        : "It was decided";
      const message = `${said}, and a late answer says otherwise: ${service}. The goods may have been moved twice, or not at all: compare the stock with the service's journal, correct it by hand, and acknowledge this.`;
      const evidence = { decision: decision ?? null, lateAnswer: outcome };
      run.raise({ code: "unexpected-answer", subject: referenceId, message, evidence, resolvedBy: ["acknowledge"] });
    },
    // The run ends, or somebody has ended the activity: reports and `doctor` show it all the same.
    () => undefined,
  );
}

/**
 * Watches the claim by an activity that is retried until there is news: an outcome that was written late, or the
 * balance in the answer to a later movement.
 */
async function watchClaim(
  context: SaleContext,
  movement: StockMovement,
  generation: number,
  key: string,
): Promise<MovementResolution | undefined> {
  const { referenceId, action, quantity, sentAtMs = Date.now() } = movement;
  const asked = { ...context.target, referenceId, generation, movement: { action, quantity }, sinceMs: sentAtMs };
  const read = (balanceShown: boolean): Promise<WatchMovementResult> =>
    ledger.watchMovement("Watch for a late outcome: each attempt is one look", { ...asked, balanceShown });
  let result = await read(false);
  if (result.kind === "balance") {
    context.run.addEvidence(key, result.evidence);
    result = await read(true);
  }
  return result.kind === "balance" ? undefined : result;
}
