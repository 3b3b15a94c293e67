import { refundReasonWords } from "../../contract/index.ts";
import { isUnknownPaymentType } from "../../contract/codes.ts";
import type { ListedDocument } from "../../ledger/index.ts";

interface Codes {
  /** Null where there is none. */
  paymentTypeUnknown: boolean | null;
  refundReasonInWords: string | null;
}

/** What the codes of a document say, as far as that is known. */
export function codesOf({ paymentTypeCode, refundReason }: ListedDocument): Codes {
  return {
    paymentTypeUnknown: isUnknownPaymentType(paymentTypeCode),
    refundReasonInWords: refundReason === null ? null : (refundReasonWords(refundReason) ?? null),
  };
}
