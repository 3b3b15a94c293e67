import { condition } from "@temporalio/workflow";

import {
  type AdjustStockResult,
  type AppliedMovement,
  type Branch,
  type BranchHold,
  type Decision,
  notDoneOutcome,
  type OtherBranch,
  type Refusal,
  setApplied,
  type StockMovement,
} from "../../src/contract/index.ts";
import { answerOf, BetweenTries, ClaimGenerations } from "../calls/between-tries.ts";
import { park, type Verdict } from "../operator/attention-list.ts";
import { ledger, mainWaits } from "../proxies.ts";
import type { SaleContext } from "../sale/state.ts";
import { endOfTurn } from "../sdk/interceptors.ts";
import { adoptDecision, resolveUnknownMovement } from "./unknown-movement.ts";

/**
 * Brings one movement to `applied` or `dropped`, in as many tries as that takes. Another try is made only once the one
 * before is known not to have been applied; an unknown outcome waits for an operator (docs/failure-model.md, "Stock
 * movements").
 * @param permits shared by all movements of the run
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
    const sent = await permits.run(() => sendPastObstacles(context, movement, tries));
    if (sent?.kind !== "not-applied") betweenTries.clearRefusal();
    if (!sent) {
      run.moved(movement, "dropped");
      return;
    }
    const result =
      sent.kind === "unknown"
        ? await resolveUnknownMovement(context, movement, branch, { generation: claims.current.generation, ...sent })
        : sent;
    switch (result.kind) {
      case "applied":
        markApplied(context, movement, result);
        return;
      case "said-applied":
        adoptDecision(context, movement, result.word, true);
        run.moved(movement, "applied");
        return;
      case "superseded":
        if (result.word) adoptDecision(context, movement, result.word, false);
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

/** What the tries of one movement share. */
interface Tries {
  claims: ClaimGenerations;
  betweenTries: BetweenTries;
  branch: Branch | undefined;
  /** Whether the movement is not to be sent any more. */
  givenUp: () => boolean;
}

/**
 * Sends a movement, and waits out what the run's other movements would meet too: the key is refused, the branch is
 * held, the quota is spent, or the ledger is away. The movement keeps its permit meanwhile, so the others wait behind
 * it as `planned`, and an outage costs the history of a few of them (decision 16).
 * @returns what the last try came to; undefined where the movement was given up
 */
async function sendPastObstacles(
  context: SaleContext,
  movement: StockMovement,
  tries: Tries,
): Promise<Exclude<AdjustStockResult, { kind: "deferred" | "branch-held" }> | undefined> {
  const { run } = context;
  const { claims, betweenTries, givenUp } = tries;
  while (!givenUp()) {
    // The run's record may go with the movement: it must show all that this activation brought.
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

/** Shows what the answer says of an applied movement. */
export function markApplied(context: SaleContext, movement: StockMovement, result: AppliedMovement): void {
  setApplied(movement, result);
  const { stockIo = "ok", stockMaster = "ok" } = result.report ?? {};
  context.run.stockMoved();
  if (result.otherBranch) showOtherBranch(context, movement, result.otherBranch);
  if (stockIo === "ok" && stockMaster === "ok") return;
  movement.report = { stockIo, stockMaster };
  const message = `The movement ${result.movementId} was made, but its report says stockIo ${stockIo}, stockMaster ${stockMaster}.`;
  context.run.raise({ code: "stock-unreported", subject: movement.referenceId, message, evidence: { ...movement } });
}

/**
 * Sends one try of a movement: one activity with one attempt. If that ends without a result, its claim says what became
 * of it ({@link answerOf}; docs/architecture.md, "When the answer to a stock movement is lost").
 */
async function sendMovement(
  { calls, run, target }: SaleContext,
  movement: StockMovement,
  { claims: { current: claim }, branch }: Tries,
): Promise<AdjustStockResult> {
  const { referenceId, itemId, action, quantity, unitPrice, purpose, undoes } = movement;
  const of = { type: run.documentType, number: run.invoice, purpose, undoes };
  const claimKey = { ...target, referenceId };
  const request = { ...claimKey, itemId, action, quantity, unitPrice, branch, of, claim };
  const sent = await calls.unrepeatableWrite.adjustStock(run.inWords(movement), request);
  const { generation } = claim;
  const result = await answerOf(sent, () =>
    ledger.readMovement("Read from its claim what became of the movement", { ...claimKey, generation }),
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

const ACKNOWLEDGE = "Let movements to named branches go on";

/**
 * Shows that an applied movement was answered with another branch than the one that was asked for. Once an operator has
 * acknowledged it, the ledger lets movements to named branches go on; the run ends only when that is written.
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
    await ledger.acknowledgeBranch(ACKNOWLEDGE, { ...target, referenceId, otherBranch, word: { note, by, atMs } });
  };
  run.beforeTheEnd(written());
}

/**
 * Waits until movements to named branches are sent again, or until an operator gives this one up. The run that found
 * the other branch may be closed, so nobody can acknowledge it there: here a `retry` with a note says that somebody has
 * checked the branch.
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
  const decisions = run.decisions.slice(decisionsBefore);
  const isAboutIt = ({ update, subject }: Decision): boolean => update === "retry" && subject === referenceId;
  const checked = decisions.findLast((one) => isAboutIt(one) && one.note !== "");
  if (verdict === "retry" && checked) {
    const { note, by, atMs } = checked;
    const { referenceId: finder, businessId, ...otherBranch } = held.hold;
    const word = { note, by, atMs };
    await ledger.acknowledgeBranch(ACKNOWLEDGE, { ...target, businessId, referenceId: finder, otherBranch, word });
  }
  return verdict;
}

/** Lets at most so many act at once. The others wait, and follow in the order in which they came. */
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
