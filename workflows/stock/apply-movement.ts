import {
  type AppliedMovement,
  type AskedMovement,
  type Branch,
  setApplied,
  type StockMovement,
} from "../../src/contract/index.ts";
import { BetweenTries } from "../calls/between-tries.ts";
import { ClaimGenerations } from "../calls/claim-generations.ts";
import { ledger } from "../proxies.ts";
import type { SaleContext } from "../sale/state.ts";
import { parkOnBranch, showOtherBranch } from "./other-branch.ts";
import type { Sender } from "./send-movement.ts";
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
          run.beforeTheEnd(ledger.settleMovement({ ...claimKey, ...claims.current, outcome: result }));
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
