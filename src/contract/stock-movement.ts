import { boundedName, escapedPart } from "./ids.ts";
import type {
  Branch,
  ClaimedTry,
  NotDone,
  NotDoneOutcome,
  OperatorDecision,
  SupersededTry,
  UnknownOutcome,
  Unsettled,
} from "./calls.ts";
import type { CallTarget } from "./connection.ts";
import type { ResolvedLine } from "./documents.ts";

export type StockAction = "ADD" | "DEDUCT";

/**
 * `planned`: not sent yet. `sending`: an answer is awaited. `applied`: by the service's answer or an operator's
 * decision. `unknown`: an operator must say. `refused`: the service refused it, and it waits for an operator.
 * `dropped`: never sent, or refused, and given up.
 */
export type MovementState = "planned" | "sending" | "applied" | "unknown" | "refused" | "dropped";

/** `Take 2 × Unga from stock, branch branch_1` */
export function movementInWords(
  { action, quantity, itemId, branchId }: Pick<StockMovement, "action" | "quantity" | "itemId" | "branchId">,
  itemName = itemId,
): string {
  const goods = `${quantity} × ${itemName}`;
  const moved = action === "DEDUCT" ? `Take ${goods} from stock` : `Return ${goods} to stock`;
  return branchId === undefined ? moved : `${moved}, branch ${branchId}`;
}

/** The same, whichever run sends it. */
export interface MovementOrigin {
  type: "sale" | "credit_note";
  number: string;
  purpose: MovementPurpose;
  /**
   * The reference of the movement that this one gives back. A `restocked` movement without it was decided by an operator,
   * who named the branch.
   */
  undoes?: string | undefined;
}

export interface StockMovement extends ResolvedLine {
  referenceId: string;
  purpose: MovementPurpose;
  action: StockAction;
  state: MovementState;
  /** The branch that was asked for, and once there is an answer the one that the answer names. */
  branchId?: string;
  movementId?: string;
  quantityOnHand?: number;
  report?: { stockIo?: string; stockMaster?: string };
  undoes?: string;
  sentAtMs?: number;
  decision?: MovementDecision;
}

/** Each is made, or given up: no answer is awaited, and nobody has to answer for one. */
export function areSettled(movements: readonly Pick<StockMovement, "state">[]): boolean {
  return movements.every(({ state }) => state === "applied" || state === "dropped");
}

export interface MovementDecision extends OperatorDecision {
  applied: boolean;
  /** Set if the item's balance spoke against the answer. */
  contradicts?: BalanceSeen;
}

/** The first balance of the item after the movement was sent, and what it would be with the movement and without it. */
export interface BalanceSeen {
  quantityOnHand: number;
  ifApplied: number;
  ifNot: number;
}

/** The balance in the evidence of an unknown movement, if it speaks against this answer. It decides nothing. */
export function balanceAgainst(
  { balanceSpeaks, laterQuantityOnHand, expectedIfApplied, expectedIfNot }: Readonly<Record<string, unknown>>,
  applied: boolean,
): BalanceSeen | undefined {
  if (balanceSpeaks !== (applied ? "against" : "for")) return undefined;
  const seen = { quantityOnHand: laterQuantityOnHand, ifApplied: expectedIfApplied, ifNot: expectedIfNot };
  return Object.values(seen).every((one) => typeof one === "number") ? (seen as BalanceSeen) : undefined;
}

export function balanceInWords({ quantityOnHand, ifApplied, ifNot }: BalanceSeen): string {
  return `against the balance: ${quantityOnHand} seen, ${ifApplied} expected if it was applied, ${ifNot} if not`;
}

/** Fiscal Compliance API, "Limits": a stock adjustment's `referenceId` has at most 100 characters. */
export const MAX_REFERENCE_LENGTH = 100;

/**
 * `sold`: taken from stock by a sale; `undone`: given back, since the sale ended; `restocked`: given back by a refund.
 */
export type MovementPurpose = "sold" | "undone" | "restocked";

/**
 * Readable, and unique for each document, item and purpose: parts are escaped.
 * @param part of an item that is moved at several prices: which of its movements it is, from 1
 */
export function stockReferenceId(
  traderInvoiceNumber: string,
  itemId: string,
  purpose: MovementPurpose,
  part?: number,
): string {
  const parts = [traderInvoiceNumber, itemId, purpose, ...(part === undefined ? [] : [String(part)])];
  return boundedName(parts.map(escapedPart).join("/"), MAX_REFERENCE_LENGTH);
}

/** A document has no more lines than that. */
const MOST_PARTS = 1_000;

/**
 * Of an item's movement at one of several prices, the same part.
 * @param taken the reference of the movement that took it, for the sale `soldAs`
 * @param number of the document for which it is given back
 */
export function reversalReferenceId(
  taken: string,
  { soldAs, itemId, number, purpose }: { soldAs: string; itemId: string; number: string; purpose: MovementPurpose },
): string {
  return stockReferenceId(number, itemId, purpose, partOf(taken, soldAs, itemId));
}

function partOf(taken: string, soldAs: string, itemId: string): number | undefined {
  if (taken === stockReferenceId(soldAs, itemId, "sold")) return undefined;
  for (let part = 1; part <= MOST_PARTS; part++)
    if (taken === stockReferenceId(soldAs, itemId, "sold", part)) return part;
  return undefined;
}

interface MovedGoods extends ResolvedLine {
  action: StockAction;
  branch?: Branch | undefined;
}

export interface AskedMovement extends MovedGoods {
  referenceId: string;
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
  /** By an operator, about this or an earlier try, if one was made before this was known. */
  decision?: MovementDecision | undefined;
}

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

/** An operator has decided so, in whichever run. */
export interface DecidedApplied {
  kind: "decided-applied";
  decision: MovementDecision;
}

export type AdjustStockResult =
  | AppliedMovement
  | DecidedApplied
  /** Not sent: movements to named branches are held until somebody has looked at the answer to another one. */
  | { kind: "branch-held"; message: string; hold: BranchHold }
  | NotDone<"not-applied">
  | SupersededTry<MovementDecision>
  | UnknownOutcome;

export interface MovementReference extends CallTarget {
  referenceId: string;
  generation: number;
  /** When the workflow first asked for this try, by its clock (Unix milliseconds). Absent: an earlier run did. */
  sinceMs?: number;
  /** The document that it belongs to. */
  of?: Pick<MovementOrigin, "type" | "number">;
  /** This run's last try, which was put off, and is not made again. */
  putOff?: ClaimedTry | undefined;
}

export type KnownMovement = AppliedMovement | DecidedApplied | SupersededTry<MovementDecision> | UnknownOutcome;

export interface ReadTakenRequest extends CallTarget {
  /** The sale's own number, and its document: a document of somebody else under that number has taken nothing. */
  number: string;
  saleId: string;
  /** References of what is not to be taken any more: what nobody has claimed by now is never sent. */
  close?: string[];
  /** The last movement of the page before, in the order of their references. */
  after?: string | undefined;
}

/** So many fit into one payload, also where nothing is known of any. A page with fewer is the last one. */
export const TAKEN_A_PAGE = 200;

/** What was refused, dropped or never sent is not among it. */
export interface TakenMovement extends ResolvedLine {
  referenceId: string;
  /** From which it was taken; absent: the business's first branch, whichever that was. */
  branchId?: string;
  /** They were given back already, or that is not known: they are not returned again. */
  givenBack?: true;
  /** Absent if it is known to have been applied. */
  unknown?: Omit<UnknownOutcome, "kind"> & { generation: number; sentAtMs: number };
}

/** Tried again until the ledger knows more of an unknown movement. */
export interface WatchMovementRequest extends MovementReference {
  movement: { action: StockAction; quantity: number };
  /** When the unknown try was sent (Unix milliseconds): the pauses grow with its age. */
  sinceMs: number;
  balanceShown: boolean;
}

export interface WatchDecisionRequest extends CallTarget {
  referenceId: string;
  sinceMs: number;
}

export interface ContradictedDecision {
  decision?: MovementDecision | undefined;
  outcome: MovementOutcome;
}

export type WatchMovementResult =
  | AppliedMovement
  | DecidedApplied
  | SupersededTry<MovementDecision>
  /** A later answer for the same item and branch was seen. */
  | { kind: "balance"; evidence: Record<string, unknown> };

export interface DecideMovementRequest extends MovementReference {
  decision: MovementDecision;
  movement: MovedGoods;
  of: MovementOrigin;
}

export interface SettleMovementRequest extends CallTarget, ClaimedTry {
  referenceId: string;
  outcome: MovementOutcome;
}

export type MovementOutcome = AppliedMovement | NotDoneOutcome<"not-applied">;

export interface AcknowledgeBranchRequest extends CallTarget {
  referenceId: string;
  otherBranch: Omit<OtherBranch, "message">;
  decision: OperatorDecision;
}

export interface AwaitBranchRequest extends CallTarget {
  sinceMs: number;
}
