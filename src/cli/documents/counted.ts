import type { ListedDocument } from "../../ledger/index.ts";

type Counted = Pick<ListedDocument, "total" | "taxableAmount" | "taxAmount" | "taxes"> & {
  notSignedTotal: string | null;
};

/** The amounts of a document as a list may add them up: those of one that is not signed stand apart, or nowhere. */
export function countedAmounts({ status, total, taxableAmount, taxAmount, taxes }: ListedDocument): Counted {
  return status === "completed"
    ? { total, taxableAmount, taxAmount, taxes, notSignedTotal: null }
    : { total: null, taxableAmount: null, taxAmount: null, taxes: [], notSignedTotal: total };
}
