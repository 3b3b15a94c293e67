import type { ListedDocument } from "../../ledger/index.ts";

type Counted = Pick<ListedDocument, "total" | "taxableAmount" | "taxAmount" | "taxes"> & {
  /** Of a document that may be signed yet. */
  notSignedTotal: string | null;
  givenUpTotal: string | null;
};

/** The amounts of a document as a list may add them up: those of one that is not signed stand apart, or nowhere. */
export function countedAmounts(document: ListedDocument): Counted {
  const { status, givenUp, total, taxableAmount, taxAmount, taxes } = document;
  if (status === "completed")
    return { total, taxableAmount, taxAmount, taxes, notSignedTotal: null, givenUpTotal: null };
  const apart = givenUp ? { notSignedTotal: null, givenUpTotal: total } : { notSignedTotal: total, givenUpTotal: null };
  return { total: null, taxableAmount: null, taxAmount: null, taxes: [], ...apart };
}
