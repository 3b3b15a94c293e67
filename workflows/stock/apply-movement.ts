import {
  type AdjustStockRequest,
  type AdjustStockResult,
  type AppliedMovement,
  type AskedMovement,
  type Branch,
  type ReadMovementResult,
  setApplied,
  type StockMovement,
} from "../../src/contract/index.ts";
import { BetweenTries, ClaimGenerations } from "../calls/between-tries.ts";
import { ledger } from "../proxies.ts";
import type { SaleContext } from "../sale/state.ts";
import { endOfTurn } from "../sdk/interceptors.ts";
import { parkOnBranch, showOtherBranch } from "./other-branch.ts";
import { adoptDecision, resolveUnknownMovement } from "./unknown-movement.ts";

/**
 * Brings one movement to `applied` or `dropped`, in as many tries as that takes. Another try is made only once the one
 * before is known not to have been applied; an unknown outcome waits for an operator (docs/failure-model.md, "Stock
 * movements").
 * @param sender shared by all movements of the run
 */
export async function applyMovement(
  context: SaleContext,
  movement: StockMovement,
  sender: Sender,
  branch?: Branch,
): Promise<void> {
  const { run } = context;
  const claimKey = { ...context.target, referenceId: movement.referenceId };
  const givenUp = (): boolean => run.stockHalted && movement.purpose === "sold";
  const claims = new ClaimGenerations();
  const betweenTries = new BetweenTries(run);
  const markSending = (): void => {
    // While a refused key is tried again the movement is still shown as refused.
    if (!betweenTries.refusalStands) movement.state = "sending";
    movement.sentAtMs = Date.now();
  };
  for (;;) {
    const sent = await sender.send({ movement, request: requestOf(movement, claims, branch), givenUp, markSending });
    if (!sent) {
      betweenTries.clearRefusal();
      markDropped(context, movement);
      return;
    }
    const result =
      sent.kind === "unknown" ? await resolveUnknownMovement(context, movement, claims.generation, branch, sent) : sent;
    if (result.kind !== "not-applied" && result.kind !== "deferred") betweenTries.clearRefusal();
    switch (result.kind) {
      case "applied":
        markApplied(context, movement, result);
        // The activity could not write the outcome into the claim: the run ends only once it is there.
        if (result.unsettled)
          run.beforeTheEnd(
            ledger.settleMovement("Write the outcome into the movement's claim", {
              ...claimKey,
              ...claims.current,
              outcome: result,
            }),
          );
        return;
      case "said-applied":
        movement.state = "applied";
        adoptDecision(context, movement, result.word, true);
        run.stockMoved();
        return;
      case "superseded":
        if (result.word) adoptDecision(context, movement, result.word, false);
        claims.skipPast(result.generation);
        break;
      case "deferred":
        movement.state = "planned";
        run.stockMoved();
        if (!result.sameTry) claims.nextGeneration();
        await betweenTries.waitAfterDeferral(result, givenUp);
        break;
      case "branch-held": {
        movement.state = "refused";
        run.stockMoved();
        const verdict = await parkOnBranch(context, movement, result, givenUp);
        if (verdict === "acknowledged") {
          markDropped(context, movement);
          return;
        }
        // While a new dialect is rolled out, workers differ: the one that waits may see no hold where the one that
        // sends still sees it.
        if (verdict === "woken") {
          movement.state = "planned";
          run.stockMoved();
          await betweenTries.waitAfterDeferral({}, givenUp);
        }
        break;
      }
      case "not-applied": {
        movement.state = "refused";
        run.stockMoved();
        claims.nextGeneration();
        const { refusal } = result;
        const code = refusal.attention === "credentials" ? refusal.attention : "stock-refused";
        const message = `${movement.action} ${movement.quantity} of ${movement.itemId}: ${refusal.message}`;
        const options = { code, subject: movement.referenceId, message, until: givenUp } as const;
        const verdict = await betweenTries.parkOnRefusal(refusal, options);
        if (verdict === "acknowledged" && code === "stock-refused") {
          markDropped(context, movement);
          return;
        }
      }
    }
  }
}

function requestOf(movement: StockMovement, { claim }: ClaimGenerations, branch: Branch | undefined): AskedMovement {
  const { referenceId, itemId, action, quantity, unitPrice } = movement;
  return { referenceId, itemId, action, quantity, unitPrice, ...(branch && { branch }), claim };
}

function markDropped({ run }: SaleContext, movement: StockMovement): void {
  movement.state = "dropped";
  run.stockMoved();
}

function markApplied(context: SaleContext, movement: StockMovement, result: AppliedMovement): void {
  setApplied(movement, result);
  if (result.recorded) context.run.records?.savedWithCall();
  const { stockIo = "ok", stockMaster = "ok" } = result.report ?? {};
  context.run.stockMoved();
  if (result.otherBranch) showOtherBranch(context, movement, result.otherBranch);
  if (stockIo === "ok" && stockMaster === "ok") return;
  movement.report = { stockIo, stockMaster };
  const message = `The movement ${result.movementId} was made, but its report says stockIo ${stockIo}, stockMaster ${stockMaster}.`;
  context.run.raise({ code: "stock-unreported", subject: movement.referenceId, message, evidence: { ...movement } });
}

/** How many movements of one run are sent at once, so that a sale of a thousand lines leaves room for other sales. */
export const MOST_AT_ONCE = 5;

/** One try of a movement, which the sender sends once it is its turn. */
export interface PendingTry {
  movement: StockMovement;
  request: AskedMovement;
  /** Whether the movement is not to be sent any more. */
  givenUp: () => boolean;
  /** Shows that it is being sent. */
  markSending: () => void;
}

/** Sends the tries of a run's movements. */
export interface Sender {
  /** @returns what the try came to; undefined where the movement was given up before it was sent */
  send(pending: PendingTry): Promise<AdjustStockResult | undefined>;
}

/** Sends each try as an activity of the run itself. */
export class DirectSender implements Sender {
  readonly #context: SaleContext;
  readonly #semaphore = new Semaphore(MOST_AT_ONCE);

  constructor(context: SaleContext) {
    this.#context = context;
  }

  send({ movement, request, givenUp, markSending }: PendingTry): Promise<AdjustStockResult | undefined> {
    const { run } = this.#context;
    return this.#semaphore.run(async () => {
      // The run's record may go with the movement: it must show all that this activation brought.
      await endOfTurn();
      if (givenUp()) return undefined;
      markSending();
      run.stockMoved();
      const record = run.records?.recordForMovement(movement);
      return await sendMovement(this.#context, request, run.inWords(movement), record && { record });
    });
  }
}

/**
 * Sends one try of a movement: one activity with one attempt. Every end of the HTTP call is a result of the activity,
 * `unknown` too (a timeout, a 5xx, an answer that cannot be read). If the activity itself ends without a result, since
 * its worker died or its time was up, four places together find out what happened, so that nothing is sent twice:
 *
 * 1. `workflows/proxies.ts` gives the activity one attempt and timeouts, so that a lost activity ends as a failure.
 * 2. `workflows/calls/activity-failures.ts` turns that failure into `lost`, or into `deferred` if no worker started it.
 * 3. The claim in the ledger, which the activity took before it sent (`activities/compliance/stock-claim.ts`) and which
 *    {@link readOutcomeFromClaim} reads, says whether the movement was sent, and what came of it.
 * 4. A claim without an outcome makes the movement `unknown`, like that result (`unknown-movement.ts`), until an operator
 *    decides with the update `resolveStock` (`workflows/sale/messages.ts`), or the outcome is written late.
 *
 * @param summary what is moved, as people call it
 * @param more whose movement it is, where a chunk sends it for its run; the record to keep with the answer
 */
export async function sendMovement(
  { calls, target }: Pick<SaleContext, "calls" | "target">,
  request: AskedMovement,
  summary: string,
  more: Pick<AdjustStockRequest, "sentFor" | "record"> = {},
): Promise<AdjustStockResult> {
  const { adjustStock } = more.record ? calls.unrepeatableWriteSoon : calls.unrepeatableWrite;
  const result = await adjustStock(summary, { ...target, ...request, ...more });
  return result.kind === "lost" ? await readOutcomeFromClaim(target, request, result.message) : result;
}

/**
 * Reads in the ledger what became of a try whose answer was lost. No claim: it was never sent, and the reading closes
 * the claim, so that a late attempt cannot send it either. A claim with an outcome: that is the answer. A claim without
 * one: unknown (docs/architecture.md, "At most once").
 * @param whyLost a sentence for the operator
 */
export async function readOutcomeFromClaim(
  target: SaleContext["target"],
  { referenceId, claim }: AskedMovement,
  whyLost: string,
): Promise<ReadMovementResult> {
  const { generation, previous } = claim;
  const found = await ledger.readMovement("Read from its claim what became of the movement", {
    ...target,
    referenceId,
    generation,
    ...(previous && { previous }),
  });
  return found.kind === "unknown" ? { ...found, message: `${whyLost} ${found.message}` } : found;
}

/** Whether other movements would fail alike: the key is refused, the branch is held, or nothing can be sent now. */
export function isSharedObstacle(result: AdjustStockResult): boolean {
  if (result.kind === "not-applied") return result.refusal.attention === "credentials";
  return result.kind === "deferred" || result.kind === "branch-held";
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
