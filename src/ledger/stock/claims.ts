/** What the room says about stock movements: types alone. */

export interface MovementKey {
  connection: string;
  /** Absent where the key's reach names the business. */
  businessId: string | undefined;
  referenceId: string;
}

export interface ClaimedMovement {
  itemId: string;
  action: "ADD" | "DEDUCT";
  quantity: number;
  unitPrice: number;
  /** As it is sent; absent: the business's first. */
  branch?: string | undefined;
}

/**
 * One try of a movement. `generation` counts from 1 the tries that are allowed to leave; `token` names one so that its
 * `take` can be repeated.
 */
export interface Try {
  generation: number;
  token: string;
}

/** The answer to a movement named another branch than the one that was asked for. */
export interface OtherBranch {
  /** The name and the form under which the branch was sent. */
  sentAs: string;
  asked: string;
  answered: string;
  /** In words, with the settings to look at. */
  message: string;
}

export type BranchPair = Omit<OtherBranch, "message">;

export interface OpenHold extends BranchPair {
  /** The movement whose answer named the other branch, and its business. */
  referenceId: string;
  businessId: string | undefined;
}

export interface ListedHold extends OpenHold {
  connection: string;
  heldAtMs: number;
}

export interface AppliedMovement {
  kind: "applied";
  movementId: string;
  branchId?: string | undefined;
  quantityOnHand?: number | undefined;
  report?: { stockIo?: string | undefined; stockMaster?: string | undefined } | undefined;
  otherBranch?: OtherBranch | undefined;
  sentAtMs: number;
}

export type MovementOutcome = AppliedMovement | { kind: "not-applied"; message: string };

/** As recorded; where a person alone says so there is no movement id. */
export type RecordedMovement = Omit<AppliedMovement, "movementId"> & { movementId?: string | undefined };

/** A person's word about an unknown outcome. */
export interface Decision {
  applied: boolean;
  note: string;
  by?: string | undefined;
  atMs: number;
}

interface Settled {
  kind: "settled";
  generation: number;
  outcome: RecordedMovement;
  decision?: Decision;
}

/** Somebody took it and no outcome is known: it may have been applied, or be on its way. */
interface Held {
  kind: "held";
  generation: number;
  takenAtMs: number;
  /** Workflow id and run id, for people. */
  holder: string;
}

export type TakeAnswer =
  /** Send now. */
  | { kind: "taken" }
  | Settled
  | Held
  /** That generation is known not to be applied, or was buried: come again with `generation + 1`. */
  | { kind: "behind"; generation: number; decision?: Decision }
  /** Movements to a named branch are held until somebody has looked at the answer to another one. Nothing was taken. */
  | ({ kind: "branch-held" } & OpenHold)
  /** The reference stands for another movement. */
  | { kind: "different"; claimed: ClaimedMovement; state: "applied" | "held" | "not-applied" };

export type ReadAnswer =
  | { kind: "never-sent"; generation: number }
  | Held
  | Settled
  | { kind: "not-applied"; generation: number; message: string; decision?: Decision };

export interface TakeRequest extends MovementKey, Try {
  movement: ClaimedMovement;
  /** Where the movement names a branch: the name and the form under which it is sent. */
  branchSentAs?: string | undefined;
  /** Workflow id and run id, for people. */
  holder: string;
  nowMs: number;
  /** The caller knows that its own earlier try was not applied; the settlement that said so may have been lost. */
  previous?: Try | undefined;
}

export interface SettleRequest extends MovementKey, Try {
  outcome: MovementOutcome;
}

export interface DecideRequest extends MovementKey {
  generation: number;
  applied: boolean;
  note: string;
  by?: string | undefined;
  nowMs: number;
  movement: ClaimedMovement;
  holder: string;
}

/** Asks what a sale has taken from stock. */
export interface TakenRequest {
  connection: string;
  businessId: string | undefined;
  /** The sale's own number, and the document that has it. */
  number: string;
  saleId: string;
  /** Of the document's lines: a claim may be there of which no record was kept. */
  itemIds: readonly string[];
}

export interface TakenAnswer {
  referenceId: string;
  itemId: string;
  quantity: number;
  unitPrice: number;
  /** The branch that the service named, else the one that was asked for; absent: the business's first. */
  branchId?: string;
  /** Only where it is not known whether it was applied. */
  held?: Held;
  /** Its own reversal is applied, or held: the sale was cancelled once. */
  givenBack?: true;
}

export interface Balance {
  quantityOnHand: number;
  /** When the movement whose answer told it was sent. */
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
  token?: string;
  what: string;
  detail?: unknown;
}

/**
 * Claims on stock movements, which hold "at most once" (docs/architecture.md, "At most once"): a movement is sent by
 * its holder only, between `take` and `settle`.
 *
 * Every function throws LedgerUnavailableError when nothing can be said, and may then be called again as it was.
 */
export interface StockClaims {
  take(request: TakeRequest): Promise<TakeAnswer>;
  /**
   * Records what came of a try. Idempotent. `contradicted`: the same movement had another word on it (a person's, a
   * tombstone, another answer); it is marked as disputed and both are kept, and what the service applied counts as
   * applied. `not-held`: this try never took it.
   */
  settle(request: SettleRequest): Promise<"settled" | "contradicted" | "not-held">;
  /**
   * Asked after an activity ended without an answer. Where nothing of this generation was taken a tombstone stands from
   * now on, so that a late attempt's `take` gets `behind`. A newer generation than asked for: the answer is about the
   * newest.
   */
  readOrBury(
    request: MovementKey & { generation: number; nowMs: number; previous?: Try | undefined },
  ): Promise<ReadAnswer>;
  read(key: MovementKey): Promise<ReadAnswer | { kind: "none" }>;
  /** The deductions of a sale that are applied, or of unknown outcome, in the order in which they were taken. */
  taken(request: TakenRequest): Promise<TakenAnswer[]>;
  /**
   * A person's word. What the service itself said wins over it, and so does an earlier word of a person. Idempotent for
   * the same word.
   */
  decide(request: DecideRequest): Promise<"decided" | "already-applied" | "already-not-applied">;
  /**
   * Evidence for an unknown movement: the newest balance of the same item in the same branch that was told before this
   * claim was taken, the oldest of a movement taken after it, and the other movements that may lie between those two,
   * the `after` movement itself included. Undefined without a claim, or when there is neither balance.
   */
  balanceAround(key: MovementKey): Promise<BalanceEvidence | undefined>;
  /** Why no movement of the connection to a named branch is sent at present; undefined: they are. */
  branchHold(connection: string, sentAs: string): Promise<OpenHold | undefined>;
  /** All that hold back movements to named branches, the oldest first. */
  openBranchHolds(): Promise<ListedHold[]>;
  /**
   * A person has looked at an answer that named another branch: movements go on, and the same pair of branches holds
   * none again.
   */
  acknowledgeBranch(key: MovementKey, other: BranchPair, word: Omit<Decision, "applied">): Promise<void>;
  /** Whether a person has looked at that pair of branches already. */
  isBranchAcknowledged(key: MovementKey, other: OtherBranch): Promise<boolean>;
  /** All that happened to the movement, oldest first. */
  history(key: MovementKey): Promise<ClaimEvent[]>;
}
