import { condition, workflowInfo } from "@temporalio/workflow";

import {
  type AdjustStockResult,
  type AppliedMovement,
  type Branch,
  type BranchHold,
  type ClaimedTry,
  type KnownMovement,
  type MovementDecision,
  notDoneOutcome,
  type OtherBranch,
  type Refusal,
  setApplied,
  type StockMovement,
  type UnknownOutcome,
  type WatchMovementResult,
} from "../../src/contract/index.ts";
import { answerOf, BetweenTries, ClaimGenerations } from "../calls/between-tries.ts";
import { park, Running, type Verdict } from "../operator/attention-list.ts";
import { ledger, mainWaits } from "../proxies.ts";
import type { SaleContext } from "../sale/state.ts";
import { countMovement, endOfTurn } from "../sdk/interceptors.ts";

/**
 * Brings one movement to `applied` or `dropped`. Another try is made only once the one before is known not to have been
 * applied; an unknown outcome waits for an operator (docs/failure-model.md, "Stock movements").
 */
export async function applyMovement(
  context: SaleContext,
  movement: StockMovement,
  permits: Semaphore,
  branch?: Branch,
): Promise<void> {
  const { run } = context;
  const givenUp = (): boolean => run.givenUp && movement.purpose === "sold";
  const tries: Tries = { claims: new ClaimGenerations(), betweenTries: new BetweenTries(run), branch, givenUp };
  const { claims, betweenTries } = tries;
  for (;;) {
    const answer = await permits.run(() => sendPastObstacles(context, movement, tries));
    if (answer?.kind !== "not-applied") betweenTries.clearRefusal();
    const sent = answer ?? (await closePutOff(context, movement, claims.current));
    if (!sent) {
      run.moved(movement, "dropped");
      return;
    }
    const result =
      sent.kind === "unknown"
        ? await resolveUnknownMovement(context, movement, { generation: claims.current.generation, ...sent })
        : sent;
    switch (result.kind) {
      case "applied":
        markApplied(context, movement, result);
        return;
      case "decided-applied":
        adoptDecision(context, movement, result.decision);
        run.moved(movement, "applied");
        return;
      case "superseded":
        if (result.givenUp || !answer) {
          run.moved(movement, "dropped");
          return;
        }
        if (result.decision) adoptDecision(context, movement, result.decision);
        claims.next(result.generation);
        break;
      case "not-applied":
        if ((await parkOnRefusal(context, movement, result.refusal, tries)) === "acknowledged") {
          run.moved(movement, "dropped");
          return;
        }
    }
  }
}

interface Tries {
  claims: ClaimGenerations;
  betweenTries: BetweenTries;
  branch: Branch | undefined;
  /** Whether the movement is not to be sent any more. */
  givenUp: () => boolean;
}

/**
 * Waits out what the run's other movements would meet too: the key is refused, the branch is held, the quota is spent,
 * or the ledger is away. The movement keeps its permit meanwhile, so the others wait behind it (decision 16).
 * @returns undefined if the movement was given up
 */
async function sendPastObstacles(
  context: SaleContext,
  movement: StockMovement,
  tries: Tries,
): Promise<Exclude<AdjustStockResult, { kind: "deferred" | "branch-held" }> | undefined> {
  const { run } = context;
  const { claims, betweenTries, givenUp } = tries;
  while (!givenUp()) {
    // What this activation has brought may have the sale given up.
    await endOfTurn();
    if (givenUp()) return undefined;
    // While a refused key is tried again the movement is still shown as refused.
    if (!betweenTries.refusalStands) movement.state = "sending";
    movement.sentAtMs = Date.now();
    run.stockMoved();
    const result = await sendMovement(context, movement, tries);
    switch (result.kind) {
      case "deferred":
        run.moved(movement, "planned");
        claims.putOff(result);
        await betweenTries.waitAfterDeferral(result, givenUp);
        break;
      case "branch-held": {
        betweenTries.clearRefusal();
        run.moved(movement, "refused");
        const verdict = await parkOnBranch(context, movement, result, givenUp);
        if (verdict === "acknowledged") return undefined;
        // While a new dialect is rolled out, workers differ: the one that waits may see no hold where the one that
        // sends still sees it.
        if (verdict === "woken") {
          run.moved(movement, "planned");
          await betweenTries.waitAfterDeferral({}, givenUp);
        }
        break;
      }
      case "not-applied":
        if (result.refusal.attention !== "credentials") return result;
        await parkOnRefusal(context, movement, result.refusal, tries);
        break;
      default:
        return result;
    }
  }
  return undefined;
}

function parkOnRefusal(
  { run }: SaleContext,
  movement: StockMovement,
  refusal: Refusal,
  { claims, betweenTries, givenUp }: Tries,
): Promise<Verdict> {
  const { action, quantity, itemId, referenceId: subject } = movement;
  run.moved(movement, "refused");
  claims.next();
  const code = refusal.attention === "credentials" ? refusal.attention : "stock-refused";
  const message = `${action} ${quantity} of ${itemId}: ${refusal.message}`;
  return betweenTries.parkOnRefusal(refusal, { code, subject, message, until: givenUp });
}

export function markApplied(context: SaleContext, movement: StockMovement, result: AppliedMovement): void {
  setApplied(movement, result);
  countMovement(context.run.counted, "applied");
  if (result.decision) adoptDecision(context, movement, result.decision);
  const { stockIo = "ok", stockMaster = "ok" } = result.report ?? {};
  context.run.stockMoved();
  if (result.otherBranch) showOtherBranch(context, movement, result.otherBranch);
  if (stockIo === "ok" && stockMaster === "ok") return;
  movement.report = { stockIo, stockMaster };
  const message = `The movement ${result.movementId} was made, but its report says stockIo ${stockIo}, stockMaster ${stockMaster}.`;
  context.run.raise({ code: "stock-unreported", subject: movement.referenceId, message, evidence: { ...movement } });
}

/** One activity with one attempt. If that ends without a result, its claim says what became of it. */
async function sendMovement(
  { calls, run, target }: SaleContext,
  movement: StockMovement,
  { claims: { current: claim }, branch }: Tries,
): Promise<AdjustStockResult> {
  const { referenceId, itemId, action, quantity, unitPrice, purpose, undoes, sentAtMs: sinceMs } = movement;
  const of = { type: run.documentType, number: run.invoice, purpose, undoes };
  const claimKey = { ...target, referenceId };
  const request = { ...claimKey, itemId, action, quantity, unitPrice, branch, of, claim };
  const sent = await calls.unrepeatableWrite.adjustStock(run.inWords(movement), request);
  const { generation } = claim;
  const result = await answerOf(sent, () =>
    ledger.readMovement("Read from its claim what became of the movement", { ...claimKey, generation, sinceMs, of }),
  );
  if (!("unsettled" in result)) return result;
  const outcome = result.kind === "applied" ? result : notDoneOutcome("not-applied", result);
  const settled = { ...claimKey, ...claim, outcome };
  const written = ledger.settleMovement("Write the outcome into the movement's claim", settled);
  // Another try hangs on it; a movement that is applied is shown at once, and the run ends only once it is written.
  if (result.kind === "applied") run.beforeTheEnd(written);
  else await written;
  return result;
}

/**
 * Of a movement that is given up the ledger may have taken the claim for a try that was put off, and could not say so.
 * @returns what is known of it beside that nothing was sent
 */
async function closePutOff(
  { run, target }: SaleContext,
  { referenceId, sentAtMs: sinceMs }: StockMovement,
  putOff: ClaimedTry,
): Promise<Exclude<KnownMovement, { kind: "superseded" }> | undefined> {
  if (!putOff.unsent) return undefined;
  const of = { type: run.documentType, number: run.invoice };
  const asked = { ...target, referenceId, generation: putOff.generation, sinceMs, of, putOff };
  const known = await ledger.readMovement("Close the claim of the movement, which is not sent", asked);
  return known.kind === "superseded" ? undefined : known;
}

const ACKNOWLEDGE = "Let movements to named branches go on";

/**
 * The answer names another branch than was asked for. Once an operator has acknowledged it, the ledger lets movements
 * to named branches go on; the run ends only when that is written.
 */
function showOtherBranch({ run, target }: SaleContext, { referenceId }: StockMovement, otherBranch: OtherBranch): void {
  const { asked, answered, message } = otherBranch;
  const evidence = { askedBranch: asked, answeredBranch: answered };
  // A retry would move the goods twice.
  const resolvedBy = ["acknowledge"] as const;
  const key = run.raise({ code: "unexpected-answer", subject: referenceId, message, evidence, resolvedBy });
  const written = async (): Promise<void> => {
    await condition(() => !run.needs(key));
    const { note = "", by, atMs = Date.now() } = run.decisions.findLast((one) => one.subject === referenceId) ?? {};
    const decision = { note, by, atMs };
    await ledger.acknowledgeBranch(ACKNOWLEDGE, { ...target, referenceId, otherBranch, decision });
  };
  run.beforeTheEnd(written());
}

/**
 * The run that found the other branch may be closed, so nobody can acknowledge it there: here a `retry` with a note
 * says that somebody has checked the branch.
 */
async function parkOnBranch(
  { run, target }: SaleContext,
  { referenceId, action, quantity, itemId }: StockMovement,
  held: { message: string; hold: BranchHold },
  until: () => boolean,
): Promise<Verdict> {
  const message = `${action} ${quantity} of ${itemId} was not sent. ${held.message}`;
  const sinceMs = Date.now();
  const summary = "Wait until movements to named branches are sent again: each attempt is one look";
  const wake = (): Promise<boolean> => mainWaits.awaitBranch(summary, { ...target, sinceMs }).then(() => true);
  const decisionsBefore = run.decisions.length;
  const verdict = await park(run, { code: "stock-refused", subject: referenceId, message }, { until, wake });
  const retries = run.decisions.slice(decisionsBefore).filter(({ update }) => update === "retry");
  // One that meant other things than movements too says nothing of the branch.
  const checked = retries.findLast(
    (one) =>
      one.subject === referenceId &&
      one.note !== "" &&
      retries.every((other) => other.code === one.code || other.atMs !== one.atMs),
  );
  if (verdict === "retry" && checked) {
    const { note, by, atMs } = checked;
    const decision = { note, by, atMs };
    const { referenceId: finder, businessId, ...otherBranch } = held.hold;
    await ledger.acknowledgeBranch(ACKNOWLEDGE, { ...target, businessId, referenceId: finder, otherBranch, decision });
  }
  return verdict;
}

/** The others wait, and follow in the order in which they came. */
export class Semaphore {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(most: number) {
    this.#free = most;
  }

  async run<T>(act: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await act();
    } finally {
      const next = this.#waiting.shift();
      // The permit goes straight to the next one in line, so that nobody who comes now is served before it.
      if (next) next();
      else this.#free += 1;
    }
  }
}

/** What an unknown movement turned out to be: applied, or not applied by that generation and all before it. */
type MovementResolution = Exclude<KnownMovement, UnknownOutcome>;

/**
 * Until an operator decides (`resolveStock`), or the outcome is written into the claim after all. The item's balance is
 * shown as evidence, and decides nothing.
 */
export async function resolveUnknownMovement(
  context: SaleContext,
  movement: StockMovement,
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
  const resolution = result ?? (await recordStockDecision(context, movement, generation));
  if (resolution.kind === "applied" || resolution.kind === "decided-applied") movement.state = "applied";
  run.clear(key);
  run.stockMoved();
  // Of another run's newer try the decision says nothing: whether that one was applied is asked for itself.
  const isDecided = resolution.kind !== "applied" && "decision" in resolution && resolution.decision !== undefined;
  if (isDecided && decision()) watchDecision(context, movement);
  if (resolution.kind === "unknown")
    return await resolveUnknownMovement(context, movement, { generation, ...resolution });
  return resolution;
}

/**
 * By an earlier run: its answer has been missing since. A question about what this run sends begins once its answer is
 * lost, by which the repeat of an earlier decision is told from an answer to this question.
 */
function sentByEarlierRun({ sentAtMs }: Record<string, unknown>): number | undefined {
  return typeof sentAtMs === "number" && sentAtMs < workflowInfo().startTime.getTime() ? sentAtMs : undefined;
}

/** Before acting on it. What the claim has by now outweighs it. */
async function recordStockDecision(
  context: SaleContext,
  movement: StockMovement,
  generation: number,
): Promise<KnownMovement> {
  const { decision = { applied: false, note: "", atMs: 0 } } = movement;
  const { referenceId, itemId, action, quantity, unitPrice, branchId, purpose, undoes } = movement;
  const { documentType: type, invoice: number } = context.run;
  const branch = branchId === undefined ? undefined : { id: branchId };
  const sent = { itemId, action, quantity, unitPrice, branch };
  // The ledger may know nothing of it, after a restore.
  const of = { type, number, purpose, undoes };
  const decided = { ...context.target, referenceId, generation, decision, movement: sent, of };
  return await ledger.decideMovement("Write the operator's decision into the movement's claim", decided);
}

/** One given in this run is in its list of decisions already, one from another run is added. */
export function adoptDecision({ run }: SaleContext, movement: StockMovement, decision: MovementDecision): void {
  const { applied, note, by, atMs } = decision;
  movement.decision = decision;
  if (run.decisions.some((one) => one.subject === movement.referenceId && one.atMs === atMs)) return;
  const answer = applied ? "applied" : "not applied";
  run.decide({ update: "resolveStock", code: "stock-unknown", subject: movement.referenceId, answer, note, by }, atMs);
}

/**
 * A late answer can still come, of a request that left before its worker stood still. It is watched for as long as the
 * run is open, and never holds it open; reports and `doctor` show it afterwards.
 */
export function watchDecision({ run, target }: SaleContext, { referenceId }: StockMovement): void {
  const watched = { ...target, referenceId, sinceMs: Date.now() };
  const summary = "Watch for an answer that contradicts the decision: each attempt is one look";
  void ledger.watchDecision(summary, watched).then(
    ({ decision, outcome }) => {
      const isApplied = outcome.kind === "applied";
      const service = isApplied
        ? `the service applied it as ${outcome.movementId}`
        : `it was not applied: ${outcome.message}`;
      const decided = `An operator decided that it was ${decision?.applied ? "" : "not "}applied`;
      const said = decision ? decided : "It was decided";
      const message = `${said}, and a late answer says otherwise: ${service}. The goods may have been moved twice, or not at all: compare the stock with the service's journal, correct it by hand, and acknowledge this.`;
      const evidence = { decision: decision ?? null, lateAnswer: outcome };
      run.raise({ code: "unexpected-answer", subject: referenceId, message, evidence, resolvedBy: ["acknowledge"] });
    },
    // The run ends, or somebody has ended the activity.
    () => undefined,
  );
}

/**
 * By an activity that is retried until there is news: a late outcome, or the balance in the answer to a later movement.
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
