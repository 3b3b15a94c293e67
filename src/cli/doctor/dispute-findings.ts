import type { Dispute, SecondDocument } from "../../ledger/index.ts";
import { type Finding, minuteOf, warning } from "./finding.ts";

/** Movements on which an operator has decided, and of which a late answer of the service says otherwise. */
export function disputeFindings(disputes: readonly Dispute[]): Finding[] {
  return disputes.map(({ connection, businessId, referenceId, atMs, decision, outcome }) => {
    const service = outcome.kind === "applied" ? `applied (${outcome.movementId})` : "not applied";
    const operator = decision ? (decision.applied ? "applied" : "not applied") : "otherwise";
    return warning(
      `connection ${connection}, business ${businessId}, stock`,
      `the movement ${referenceId} was decided as ${operator}, and a late answer of ${minuteOf(atMs)} says ${service}`,
      "compare the movement with the service's journal and correct the stock by hand: the goods may have been moved twice, " +
        "or not at all (https://github.com/fiscalflow/fiscalflow/blob/main/docs/runbook.md)",
    );
  });
}

/** Documents that were reported where another one of the same number counts. */
export function secondDocumentFindings(documents: readonly SecondDocument[]): Finding[] {
  return documents.map(({ workflowId, recorded, reported, atMs }) =>
    warning(
      workflowId,
      `the document ${recorded} counts, and ${reported} was reported for the same number, last at ${minuteOf(atMs)}`,
      "look at both in the service's dashboard: if both are signed, reverse the second one there by a credit note",
    ),
  );
}
