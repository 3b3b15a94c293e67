import type { RefundRequest, SaleInput } from "../../../src/contract/index.ts";
import type { AuthorityStep, Fault, NewItem } from "../../../src/dev/simulator/index.ts";

export type ShapeName =
  | "accepted-at-once"
  | "completed-later-with-callback"
  | "completed-later-without-callback"
  | "rejected-then-accepted"
  | "rejected-without-document"
  | "rejected-until-an-operator-retries"
  | "rejected-for-ever"
  | "item-not-registered"
  | "item-lacks-data"
  | "cancelled-by-authority"
  | "in-flight-for-ever"
  | "two-lines-of-one-item"
  | "several-items"
  | "refunded-when-completed"
  | "refunded-and-restocked"
  | "refunded-after-its-window"
  | "on-completion"
  | "without-idempotency-key";

/** One sale of the plan: what is asked of the product, what the world does to it, and how it must end. */
export interface PlannedSale {
  readonly number: string;
  readonly shape: ShapeName;
  readonly connection: string;
  readonly businessId: string;
  readonly input: SaleInput;
  /** Two callers start it at the same time. */
  readonly startedTwice: boolean;
  /** What the authority does with each of its submissions. */
  readonly authority: readonly AuthorityStep[];
  readonly refund?: PlannedRefund;
  /** Items that only this sale has. */
  readonly ownItems: readonly NewItem[];
  /** What the operator does once the authority's no is final. */
  readonly onRejection: "retry" | "cancel";
  readonly faults: readonly Fault[];
  readonly ends: "completed" | "credited" | "cancelled";
  /** Of each item whose stock is kept: how much is sold. */
  readonly takes: ReadonlyMap<string, number>;
  readonly total: number;
}

export interface PlannedRefund {
  /** `at-once`: by signal, before there is anything to refund. */
  readonly when: "at-once" | "when-completed" | "after-its-window";
  readonly request: RefundRequest;
  readonly authority: readonly AuthorityStep[];
}
