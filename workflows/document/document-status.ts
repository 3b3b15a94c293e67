import { IN_FLIGHT_STATUSES, type SaleDocument } from "../../src/contract/index.ts";

/**
 * `whole`: accepted, with its receipt. `unsigned`: accepted, the receipt is not there yet. `strange`: a status that the
 * document of the API does not list. (Fiscal Compliance API, "Sale and credit note status"; failure model, GET sale.)
 */
export type DocumentFate = "whole" | "unsigned" | "in-flight" | "failed" | "cancelled" | "strange";

export function fateOf(document: SaleDocument): DocumentFate {
  switch (document.status) {
    case "completed":
      return document.receipt ? "whole" : "unsigned";
    case "failed":
      return "failed";
    case "cancelled":
      return "cancelled";
    default:
      return IN_FLIGHT_STATUSES.includes(document.status) ? "in-flight" : "strange";
  }
}
