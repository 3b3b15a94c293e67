/**
 * The activities of `ComplianceActivities`: each is one call to the API, or a wait whose attempts are such calls. By
 * name, since the client's package has no activities.
 */
export const COMPLIANCE_CALLS = [
  "readItems",
  "awaitItems",
  "awaitService",
  "readBranch",
  "registerItem",
  "createSale",
  "createCreditNote",
  "readDocument",
  "awaitDocument",
  "retryDocument",
  "keepLines",
  "adjustStock",
  "planRegistrations",
  "pullPurchases",
  "keepPurchasesPage",
  "reconcileDocument",
] as const;

/** @param activityType its name, as Temporal has it */
export function isComplianceCall(activityType: string): boolean {
  return (COMPLIANCE_CALLS as readonly string[]).includes(activityType);
}
