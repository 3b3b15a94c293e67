import type {
  BalanceSeen,
  BranchHold,
  ClaimedTry,
  KnownMovement,
  MovementOrigin,
  MovementOutcome,
  OtherBranch,
  OperatorDecision,
  StockAction,
  TakenMovement,
  TakingExecution,
} from "../../contract/index.ts";
import type { UnderWay } from "../claims/answers.ts";
import type { Writer } from "../events/chain.ts";
import type { RowFindings } from "../rows/row-findings.ts";

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

export type TakeAnswer =
  /** Send now. */
  | { kind: "taken" }
  | KnownMovement
  | UnderWay
  /** Movements to a named branch are held until somebody has looked at the answer to another one. Nothing was taken. */
  | { kind: "branch-held"; hold: BranchHold }
  /** The reference stands for another movement. */
  | { kind: "different"; claimed: ClaimedMovement; state: "applied" | "held" | "not-applied" };

export interface TakeRequest extends MovementKey, ClaimedTry, TakingExecution {
  of: MovementOrigin;
  movement: ClaimedMovement;
  /** Where the movement names a branch: the name and the form under which it is sent. */
  branchSentAs?: string | undefined;
  writer: Writer;
  nowMs: number;
}

export interface SettleRequest extends MovementKey, ClaimedTry {
  outcome: MovementOutcome;
  writer: Writer;
}

export interface ReadOrBuryRequest extends MovementKey {
  generation: number;
  writer: Writer;
  nowMs: number;
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

/**
 * Claims on stock movements, which hold "at most once" (docs/architecture.md, "At most once"): a movement is sent by
 * its holder only, between `take` and `settle`.
 *
 * Every function throws LedgerUnavailableError when the ledger cannot answer, and may then be called again as it was.
 */
export interface StockClaims {
  take(request: TakeRequest): Promise<TakeAnswer>;
  /** The execution has ended without a word for the claim, and sends no more. */
  ended(request: MovementKey & ClaimedTry & Pick<TakingExecution, "execution">): Promise<void>;
  /**
   * Records what came of a try. Idempotent. `contradicted`: the same movement had another word on it (an operator's, a
   * tombstone, another answer); it is marked as disputed and both are kept, and what the service applied counts as
   * applied. `not-held`: this try never took it.
   */
  settle(request: SettleRequest): Promise<"settled" | "contradicted" | "not-held">;
  /**
   * Asked after an activity ended without an answer. Where nothing of this generation was taken a tombstone stands from
   * now on, so that a late attempt's `take` gets `superseded`. `under-way`: ask again, it is not over yet. A newer generation than asked for: the answer is about
   * the newest.
   */
  readOrBury(request: ReadOrBuryRequest): Promise<KnownMovement | UnderWay>;
  read(key: MovementKey): Promise<KnownMovement | { kind: "none" }>;
  /** The deductions of a sale that are applied, or of unknown outcome, in the order in which they were taken. */
  taken(request: TakenRequest): Promise<TakenMovement[]>;
  /** Closes the claims of movements that nobody holds, so that no late attempt sends one. */
  close(request: CloseRequest): Promise<void>;
  /**
   * An operator's decision. The answer of the service wins over it, and so do an earlier decision of an operator,
   * and a newer try, of which the word says nothing: then that is the answer. Idempotent for the same word.
   */
  decide(request: DecideRequest): Promise<"decided" | KnownMovement>;
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
