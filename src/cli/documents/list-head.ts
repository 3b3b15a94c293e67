import type { Days } from "../../ledger/index.ts";
import type { SellerOf } from "../report/seller-of.ts";

/** What a list says before its documents. */
export interface ListHead {
  days: Days;
  /** Why the list is not final; undefined where it is. */
  standing: string | undefined;
  sellerOf: SellerOf;
}
