import { IN_FLIGHT_STATUSES, type SaleDocument } from "../contract/documents.ts";

/**
 * Where a sale or credit note stands (Fiscal Compliance API, "Sale and credit note status"). `not-yet-whole`:
 * completed, but the receipt is missing. `unknown-status`: a word that is not among the six.
 */
export type DocumentPhase = "in-flight" | "completed" | "not-yet-whole" | "failed" | "cancelled" | "unknown-status";

export function phaseOf(document: Pick<SaleDocument, "status" | "receipt">): DocumentPhase {
  const { status, receipt } = document;
  if (IN_FLIGHT_STATUSES.includes(status)) return "in-flight";
  switch (status) {
    case "completed":
      return receipt === null || receipt === undefined ? "not-yet-whole" : "completed";
    case "failed":
    case "cancelled":
      return status;
    default:
      return "unknown-status";
  }
}
