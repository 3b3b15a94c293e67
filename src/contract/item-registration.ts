import type { CallTarget, Refusal } from "./calls.ts";
import type { ConnectionProfile } from "./connection.ts";

/** Input of the `registerItems` workflow. */
export interface RegisterItemsInput {
  connection?: string;
  businessId?: string;
  /** Ids, external ids or SKUs; default: the whole catalogue. */
  items?: string[];
  /** A branch's id or authorityBhfId; else the business's first branch. */
  branch?: string;
  /** Register again what the tax authority already has. */
  force?: boolean;
}

/** A batch is at most so many named items; a whole catalogue has no bound. */
export const MOST_NAMED_ITEMS = 5_000;

export interface PreparedRegisterItems {
  profile: ConnectionProfile;
}

/**
 * - `registered`: by this batch
 * - `registered-already`: nothing was to be done
 * - `needs-data`: `needs` says what is missing
 * - `refused`: nothing is missing, and the authority or the service refused it
 * - `unknown`: no item has that name, or two have
 * - `unclear`: no answer shows its outcome
 */
export const ITEM_OUTCOMES = [
  "registered",
  "registered-already",
  "needs-data",
  "refused",
  "unknown",
  "unclear",
] as const;
export type ItemOutcomeKind = (typeof ITEM_OUTCOMES)[number];

/** What one item came to. */
export interface ItemOutcome {
  kind: ItemOutcomeKind;
  /** The item's id; where it is unknown, the name that was given. */
  item: string;
  name?: string | null;
  needs?: string[];
  reason?: string;
}

export interface PlanRegistrationsRequest extends CallTarget {
  batchId: string;
  /** Of the whole catalogue: go on behind this id. */
  after?: string | undefined;
  /** Of named items: the next of them. */
  items?: string[] | undefined;
  /** So many items to be registered, at most. */
  most: number;
  force: boolean;
  /** The catalogue as of this instant, or a later one (Unix milliseconds). */
  notOlderThanMs: number;
}

/** What is to be sent next. What needs no call is in the ledger already, and only counted here. */
export type PlanRegistrationsResult =
  | {
      kind: "planned";
      items: { id: string; name: string | null }[];
      settled: Partial<Record<ItemOutcomeKind, number>>;
      /** Items of the catalogue. */
      total: number;
      /** Where to go on; `null` at the end. */
      next: string | null;
    }
  | Refusal;

export interface KeepRegistrationsRequest extends CallTarget {
  batchId: string;
  outcomes: ItemOutcome[];
}

export interface RegistrationProgress {
  /** How many items the batch is about; `null` until it is known. */
  total: number | null;
  counts: Record<ItemOutcomeKind, number>;
}

/**
 * Result of the `registerItems` workflow. The lists are cut, the counts are not, and the ledger has each item's
 * outcome.
 */
export interface RegisterItemsOutcome {
  counts: Record<ItemOutcomeKind, number>;
  needsData: ItemOutcome[];
  refused: ItemOutcome[];
  unknown: ItemOutcome[];
  unclear: ItemOutcome[];
}

export function noOutcomes(): Record<ItemOutcomeKind, number> {
  return { registered: 0, "registered-already": 0, "needs-data": 0, refused: 0, unknown: 0, unclear: 0 };
}
