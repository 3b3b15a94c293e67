import type { Branch, OperatorDecision } from "./calls.ts";
import type { CallTarget } from "./connection.ts";
import type { ClaimedTry, NotDone, NotDoneOutcome, SupersededTry, UnknownOutcome, Unsettled } from "./claimed-calls.ts";
import type { BalanceSeen, MovementOrigin, StockAction, StockMovement } from "./stock-movement.ts";

/** What the activities of a stock movement take and give. */

/** One try of a movement, as it is sent. */
export interface AskedMovement {
  referenceId: string;
  itemId: string;
  action: StockAction;
  quantity: number;
  unitPrice: number;
  branch?: Branch | undefined;
  of: MovementOrigin;
  claim: ClaimedTry;
}

export interface AdjustStockRequest extends CallTarget, AskedMovement {}

/** The answer to a movement named another branch than the one that was asked for. */
export interface OtherBranch {
  /** The name and the form under which the branch was sent (dialect, `stock.branch` and `stock.branchBy`). */
  sentAs: string;
  asked: string;
  answered: string;
  /** In words, with the settings to look at. */
  message: string;
}

/** Why no movement to a named branch is sent. */
export interface BranchHold extends Omit<OtherBranch, "message"> {
  /** The movement whose answer named the other branch, and its business. */
  referenceId: string;
  businessId?: string | undefined;
}

export interface AppliedMovement extends Unsettled {
  kind: "applied";
  movementId: string;
  branchId?: string | undefined;
  quantityOnHand?: number | undefined;
  report?: { stockIo?: string | undefined; stockMaster?: string | undefined } | undefined;
  /** Until an operator has looked, the ledger lets no further movement of the connection to a named branch be sent. */
  otherBranch?: OtherBranch | undefined;
  sentAtMs: number;
}

/** Writes into a movement what its answer says. */
export function setApplied(
  movement: StockMovement,
  { movementId, sentAtMs, branchId, quantityOnHand }: AppliedMovement,
): void {
  movement.state = "applied";
  movement.movementId = movementId;
  movement.sentAtMs = sentAtMs;
  if (branchId !== undefined) movement.branchId = branchId;
  if (quantityOnHand !== undefined) movement.quantityOnHand = quantityOnHand;
}

/** An operator has decided, in this run or in an earlier one, that the movement was applied. */
export interface DecidedApplied {
  kind: "said-applied";
  word: OperatorDecision;
}

export type AdjustStockResult =
  | AppliedMovement
  | DecidedApplied
  /** Not sent: movements to named branches are held until somebody has looked at the answer to another one. */
  | { kind: "branch-held"; message: string; hold: BranchHold }
  | NotDone<"not-applied">
  | SupersededTry
  | UnknownOutcome;

export interface MovementReference extends CallTarget {
  referenceId: string;
  generation: number;
}

/** What the ledger says of a movement that was asked for before. */
export type KnownMovement = AppliedMovement | DecidedApplied | SupersededTry | UnknownOutcome;

/** Asks what a sale has taken from stock. */
export interface ReadTakenRequest extends CallTarget {
  /** The sale's own number, and its document: a document of somebody else under that number has taken nothing. */
  number: string;
  saleId: string;
  /** References of what is not to be taken any more: what nobody has claimed by now is never sent. */
  close?: string[];
  /** The last movement of the page before, in the order of their references. */
  after?: string | undefined;
}

/**
 * Movements that one answer tells of: also where nothing is known of any, they fit into one payload. A page with fewer
 * is the last one.
 */
export const TAKEN_A_PAGE = 200;

/**
 * What is known, or not known, to have been taken from stock. What was refused, dropped or never sent is not among it.
 */
export interface TakenMovement {
  referenceId: string;
  itemId: string;
  quantity: number;
  unitPrice: number;
  /** From which it was taken; absent: the business's first branch, whichever that was. */
  branchId?: string;
  /**
   * The goods were given back already, when the sale was cancelled, or that is not known: they are not returned again.
   */
  givenBack?: true;
  /** Absent where it is known to have been applied. */
  unknown?: Omit<UnknownOutcome, "kind"> & { generation: number; sentAtMs: number };
}

/** Waits, as an activity that is tried again, until the ledger knows more of an unknown movement. */
export interface WatchMovementRequest extends MovementReference {
  movement: { action: StockAction; quantity: number };
  /** When the unknown try was sent (Unix milliseconds): the pauses grow with its age. */
  sinceMs: number;
  /** Whether the balance after it was shown already. */
  balanceShown: boolean;
}

/** Waits, in the same way, until a late answer of the service contradicts what an operator has decided. */
export interface WatchDecisionRequest extends CallTarget {
  referenceId: string;
  sinceMs: number;
}

/** What an operator has decided, if one has, and the answer that says otherwise. */
export interface ContradictedDecision {
  decision?: (OperatorDecision & { applied: boolean }) | undefined;
  outcome: MovementOutcome;
}

export type WatchMovementResult =
  | AppliedMovement
  | DecidedApplied
  | SupersededTry
  /** A later answer for the same item and branch was seen. */
  | { kind: "balance"; evidence: Record<string, unknown> };

export interface DecideMovementRequest extends MovementReference {
  applied: boolean;
  word: OperatorDecision;
  /** Set where the item's balance spoke against the word. */
  contradicts?: BalanceSeen | undefined;
  movement: { itemId: string; action: StockAction; quantity: number; unitPrice: number; branch?: Branch | undefined };
}

/**
 * What holds after an operator's decision. Where the claim had decided already, that outweighs it: the service's own
 * outcome, an earlier word, or a newer try, of which this word says nothing. Without `word` the word that was asked
 * about holds.
 */
export type DecideMovementResult =
  | { kind: "said-applied"; word?: undefined }
  | { kind: "said-not-applied" }
  | KnownMovement;

export interface SettleMovementRequest extends CallTarget, ClaimedTry {
  referenceId: string;
  outcome: MovementOutcome;
}

/** What the service's answer says of a try. */
export type MovementOutcome = AppliedMovement | NotDoneOutcome<"not-applied">;

/** An operator has looked at an answer that named another branch. */
export interface AcknowledgeBranchRequest extends CallTarget {
  referenceId: string;
  otherBranch: Omit<OtherBranch, "message">;
  word: OperatorDecision;
}

/** Waits, as an activity that is tried again, until movements of the connection to named branches are sent. */
export interface AwaitBranchRequest extends CallTarget {
  sinceMs: number;
}
