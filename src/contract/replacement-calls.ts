import type { AttentionCode } from "./attention.ts";
import type { CallTarget } from "./calls.ts";
import type { Receipt } from "./documents.ts";
import type { Refund, Replacement, SaleLineInput } from "./sale.ts";

/** Checks the corrected sale, and opens its row, before the credit note is sent. */
export interface ReserveReplacementRequest extends CallTarget {
  /** The number of the sale that is credited. */
  invoice: string;
  refund: Refund;
}

/** `refused`: something that is known stands against it, and its number is not reserved. */
export type ReserveReplacementResult =
  | {
      kind: "reserved";
      branch?: string | undefined;
      /** Absent where the request has them. */
      lines?: SaleLineInput[];
      /** Its credit note is on its way, or signed: nothing is looked at any more. */
      isUnderWay?: true;
    }
  | { kind: "refused"; message: string };

export interface ReleaseReplacementRequest extends CallTarget {
  /** Of the corrected sale. */
  number: string;
  /** The number of the sale that is not credited. */
  replaces: string;
}

export interface AwaitReplacementRequest extends CallTarget, Replacement {
  /** Answer only once what is seen has another mark. */
  unlike?: string | undefined;
  /** Since when that has been waited for (Unix milliseconds). */
  sinceMs: number;
}

export type SeenReplacement =
  | { kind: "open"; heldUp?: AttentionCode | undefined }
  | { kind: "signed"; receipt: Receipt | null }
  /**
   * It will not go on by itself. `retryable`: to start it again may help. `begun`: a workflow of its own has worked on it
   * since its number was reserved.
   */
  | { kind: "stopped"; message: string; retryable: boolean; begun: boolean };

export interface AwaitedReplacement {
  seen: SeenReplacement;
  mark: string;
}
