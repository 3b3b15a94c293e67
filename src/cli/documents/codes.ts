import { refundReasonWords } from "../../contract/index.ts";
import type { ListedDocument } from "../../ledger/index.ts";

interface Codes {
  refundReasonInWords: string | null;
}

/** What the codes of a document say, as far as that is known. */
export function codesOf({ refundReason }: ListedDocument): Codes {
  return { refundReasonInWords: refundReason === null ? null : (refundReasonWords(refundReason) ?? null) };
}
