import type {
  BalanceSeen,
  BranchHold,
  KnownMovement,
  MovementOrigin,
  MovementOutcome,
  OtherBranch,
  OperatorDecision,
  StockAction,
  TakenMovement,
} from "../../contract/index.ts";
import type { ClaimsOf, TakeClaim } from "../claims/answers.ts";
import type { Writer } from "../events/chain.ts";
import type { RowFindings } from "../events/verify-rows.ts";

/** The interface of the ledger for stock movements, in the contract's words: types alone. */

export interface MovementKey {
  connection: string;
  /** Absent where the key's reach names the business. */
  businessId?: string | undefined;
  referenceId: string;
}

export interface ClaimedMovement {
  itemId: string;
  action: StockAction;
  quantity: number;
  unitPrice: number;
  /** As it is sent; absent: the business's first. */
  branch?: string | undefined;
}

export type BranchPair = Omit<OtherBranch, "message">;

export interface ListedHold extends BranchHold {
  connection: string;
  heldAtMs: number;
}

/** An operator's decision about an unknown outcome. */
export interface Decision extends OperatorDecision {
  applied: boolean;
  /** Set where the item's balance spoke against it. */
  contradicts?: BalanceSeen;
}

/** Why nothing was taken. */
export type NotTaken =
  /** Movements to a named branch are held until somebody has looked at the answer to another one. */
  | { kind: "branch-held"; hold: BranchHold }
  /** The reference stands for another movement. */
  | { kind: "different"; claimed: ClaimedMovement; state: "applied" | "held" };

export interface TakeRequest extends MovementKey, TakeClaim {
  of: MovementOrigin;
  movement: ClaimedMovement;
  /** Where the movement names a branch: the name and the form under which it is sent. */
  branchSentAs?: string | undefined;
}

export interface CloseRequest {
  keys: readonly MovementKey[];
  writer: Writer;
  nowMs: number;
}

export interface DecideRequest extends MovementKey {
  generation: number;
  applied: boolean;
  word: OperatorDecision;
  movement: ClaimedMovement;
  /** Set where the item's balance spoke against the word. */
  contradicts?: BalanceSeen | undefined;
  writer: Writer;
}

/** A movement on which the last two words cannot both be true. */
export interface Dispute extends MovementKey {
  businessId: string;
  atMs: number;
  /** What counts now. */
  state: "held" | "applied" | "not-applied" | "buried";
  decision: Decision | undefined;
  /** What contradicts it. */
  outcome: MovementOutcome;
}

/** Asks what a sale has taken from stock. */
export interface TakenRequest {
  connection: string;
  businessId?: string | undefined;
  /** The sale's own number, and the document that has it. */
  number: string;
  saleId: string;
}

export interface Balance {
  quantityOnHand: number;
  /** When the movement was sent whose answer has it. */
  atMs: number;
  referenceId: string;
}

export interface BalanceEvidence {
  before?: Balance;
  after?: Balance;
  /** In the order in which they were taken. `unknown`: whether, or on which side of a balance, it was applied. */
  between: { referenceId: string; action: "ADD" | "DEDUCT"; quantity: number; state: "applied" | "unknown" }[];
}

export interface ClaimEvent {
  atMs: number;
  generation: number;
  what: string;
  /** What it changed of the row. */
  change?: object;
  detail?: unknown;
}

export interface MovementsReport extends RowFindings {
  movements: number;
}

/** Stock movements, each sent at most once, and what is kept of them. */
export interface StockClaims extends ClaimsOf<
  MovementKey,
  TakeRequest,
  MovementOutcome,
  DecideRequest,
  KnownMovement,
  NotTaken
> {
  read(key: MovementKey): Promise<KnownMovement | { kind: "none" }>;
  /** The deductions of a sale that are applied, or of unknown outcome, in the order in which they were taken. */
  taken(request: TakenRequest): Promise<TakenMovement[]>;
  /** Closes the claims of movements that nobody holds, so that no late attempt sends one. */
  close(request: CloseRequest): Promise<void>;
  /**
   * Evidence for an unknown movement: the newest balance of the same item in the same branch that was answered before
   * this claim was taken, the oldest of a movement taken after it, and the other movements that may lie between those
   * two, the `after` movement itself included. Undefined without a claim, or when there is neither balance.
   */
  balanceAround(key: MovementKey): Promise<BalanceEvidence | undefined>;
  /** Why no movement of the connection to a named branch is sent at present; undefined: they are. */
  branchHold(connection: string, sentAs: string): Promise<BranchHold | undefined>;
  /** All that hold back movements to named branches, the oldest first. */
  openBranchHolds(): Promise<ListedHold[]>;
  /**
   * An operator has looked at an answer that named another branch: movements go on, and the same pair of branches holds
   * none again.
   */
  acknowledgeBranch(key: MovementKey, other: BranchPair, word: OperatorDecision): Promise<void>;
  /** Whether an operator has looked at that pair of branches already. */
  isBranchAcknowledged(key: MovementKey, other: OtherBranch): Promise<boolean>;
  /**
   * Movements of which two words cannot both be true (an operator's, and a late answer of the service), by the newest
   * event about that, not older than `days`; at most 100, the newest first.
   */
  disputes(days: number): Promise<Dispute[]>;
  /** The same of one movement, however old; undefined: there is none. */
  disputeOf(key: MovementKey): Promise<Dispute | undefined>;
  /** Holds each movement of a business against its events. */
  verify(business: { connection: string; businessId: string }): Promise<MovementsReport>;
  /** All that happened to the movement, oldest first. */
  history(key: MovementKey): Promise<ClaimEvent[]>;
}
