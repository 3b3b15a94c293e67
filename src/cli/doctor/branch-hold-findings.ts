import { BRANCH_NOT_SENT, branchSentAs, parseDialect } from "../../compliance/index.ts";
import type { Config } from "../../config/index.ts";
import type { ListedHold } from "../../ledger/index.ts";
import { type Finding, minuteOf, warning } from "./finding.ts";

/**
 * What holds back the stock movements of each configured connection; a hold under another dialect than the present one
 * holds nothing.
 */
export function branchHoldFindings(
  holds: readonly ListedHold[],
  { compliance }: Pick<Config, "compliance">,
): Finding[] {
  return holds
    .filter(
      ({ connection, sentAs }) =>
        sentAs !== BRANCH_NOT_SENT &&
        compliance.some(
          ({ name, dialect, environment }) =>
            name === connection && branchSentAs(parseDialect(dialect ?? {}, environment).stock) === sentAs,
        ),
    )
    .map(({ connection, businessId, referenceId, asked, answered, heldAtMs }) => {
      const business = businessId === undefined ? "" : `, business ${businessId}`;
      const since = minuteOf(heldAtMs);
      return warning(
        `connection ${connection}${business}, stock`,
        `no movement to a named branch is sent since ${since}: the answer to ${referenceId} named branch "${answered}" where "${asked}" ` +
          "was asked for",
        "check the branch, then acknowledge the unexpected-answer of that movement (fiscalflow sale acknowledge); where it no longer " +
          "waits, retry any held movement with a note (fiscalflow sale retry INVOICE --note TEXT). Or set stock.branch and " +
          "stock.branchBy in COMPLIANCE_DIALECT to what the API takes",
      );
    });
}
