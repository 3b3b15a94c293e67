import { Context } from "@temporalio/activity";

import { BRANCH_NOT_SENT } from "../../src/compliance/index.ts";
import type {
  AdjustStockRequest,
  AdjustStockResult,
  AppliedMovement,
  BranchHold,
  MovementTry,
} from "../../src/contract/index.ts";
import { type Ledger, LedgerUnavailableError } from "../../src/ledger/index.ts";
import { lastBalance } from "../ledger/balance-evidence.ts";
import { claimedMovement, holderOf, ledgerOutcome, toMovementResult } from "../ledger/beside-calls.ts";

/** What `take` comes to: the claim is ours and the movement may be sent, or what is known of it already. */
type Taken = "taken" | AdjustStockResult;

/**
 * The claim of one try: taken immediately before the movement is sent, settled with the outcome after
 * (docs/architecture.md, "At most once"). No other activity, of this run or of another one, sends the movement while it
 * stands.
 */
export class StockClaim {
  readonly #ledger: Ledger;
  readonly #request: AdjustStockRequest;
  readonly #branchSentAs: string | undefined;
  readonly #nowMs: () => number;
  readonly #try: MovementTry;

  /** @param branchSentAs where the movement names a branch: how the dialect sends it */
  constructor(ledger: Ledger, request: AdjustStockRequest, branchSentAs: string | undefined, nowMs: () => number) {
    this.#ledger = ledger;
    this.#request = request;
    this.#branchSentAs = branchSentAs === BRANCH_NOT_SENT ? undefined : branchSentAs;
    this.#nowMs = nowMs;
    const { generation, token } = request.claim;
    this.#try = { generation, token };
  }

  async take(): Promise<Taken> {
    const { previous } = this.#request.claim;
    const movement = claimedMovement(this.#request);
    const holder = holderOf(Context.current().info);
    const call = {
      ...this.#key,
      ...this.#try,
      movement,
      branchSentAs: this.#branchSentAs,
      holder,
      nowMs: this.#nowMs(),
    };
    const answer = await this.#ledger.stock.take({ ...call, ...(previous && { previous }) });
    switch (answer.kind) {
      case "taken":
        return "taken";
      case "branch-held": {
        const { kind, ...hold } = answer;
        return { kind, message: branchHeldMessage(this.#request, hold), hold };
      }
      case "behind":
        return toMovementResult(answer);
      case "settled": {
        const found = toMovementResult(answer);
        return found.kind === "applied" ? await this.withoutKnownBranch(found) : found;
      }
      case "held": {
        const unknown = toMovementResult(answer);
        return { ...unknown, evidence: { ...unknown.evidence, ...(await this.lastBalance()) } };
      }
      case "different":
        return differentMovement(this.#request, answer);
    }
  }

  /** True where the outcome is written down. The answer to the movement is the caller's all the same. */
  async settle(outcome: AppliedMovement | { kind: "not-applied"; message: string }): Promise<boolean> {
    const kept = outcome.kind === "applied" ? ledgerOutcome(outcome) : outcome;
    try {
      await this.#ledger.stock.settle({ ...this.#key, ...this.#try, outcome: kept });
      return true;
    } catch (error) {
      if (error instanceof LedgerUnavailableError) return false;
      throw error;
    }
  }

  /** Somebody who has looked at a pair of branches once need not look at it for each movement. */
  async withoutKnownBranch({ otherBranch, ...applied }: AppliedMovement): Promise<AppliedMovement> {
    if (!otherBranch) return applied;
    try {
      if (await this.#ledger.stock.isBranchAcknowledged(this.#key, otherBranch)) return applied;
    } catch (error) {
      if (!(error instanceof LedgerUnavailableError)) throw error;
    }
    return { ...applied, otherBranch };
  }

  /** Evidence alone, so it may be missing. */
  async lastBalance(): Promise<Record<string, unknown>> {
    try {
      return lastBalance(await this.#ledger.stock.balanceAround(this.#key));
    } catch (error) {
      if (error instanceof LedgerUnavailableError) return {};
      throw error;
    }
  }

  get #key() {
    const { connection, businessId, referenceId } = this.#request;
    return { connection, businessId, referenceId };
  }
}

function branchHeldMessage({ connection }: AdjustStockRequest, { referenceId, asked, answered }: BranchHold): string {
  return (
    `The answer to ${referenceId} named branch "${answered}" where "${asked}" was asked for. Connection ${connection} sends no movement ` +
    "to a named branch until an operator has acknowledged that, or stock.branch or stock.branchBy of COMPLIANCE_DIALECT is changed; " +
    `then this one is sent by itself. Where ${referenceId} no longer waits to be acknowledged: check the branch, then retry this ` +
    "movement with a note that says what you found, which lifts the hold. A retry without a note only tries again."
  );
}

/** An earlier run sent something else under this reference. */
function differentMovement(
  { referenceId }: AdjustStockRequest,
  { claimed, state }: { claimed: { itemId: string; action: string; quantity: number }; state: string },
): AdjustStockResult {
  const other = `${claimed.action} ${claimed.quantity} of ${claimed.itemId}`;
  const message = `An earlier run sent another movement under ${referenceId}: ${other}, which is ${state === "held" ? "of unknown outcome" : state}.`;
  if (state === "held") return { kind: "unknown", message, evidence: { earlierMovement: claimed } };
  const details = { earlierMovement: claimed };
  return { kind: "not-applied", refusal: { kind: "refused", attention: "stock-refused", message, details } };
}
