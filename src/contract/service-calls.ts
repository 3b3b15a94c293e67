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
  "keepDocument",
  "adjustStock",
  "planRegistrations",
  "pullPurchases",
  "keepPurchasesPage",
  "reconcileDocument",
] as const;

/** The same of `AccountingActivities`, and the accounting service. */
export const ACCOUNTING_CALLS = [
  "keepBillPaymentsPage",
  "sampleBillPayments",
  "processSyncBatch",
  "awaitAccounting",
] as const;

/** Which service an activity calls. @param activityType its name, as Temporal has it */
export function calledService(activityType: string): "compliance" | "accounting" | undefined {
  if ((COMPLIANCE_CALLS as readonly string[]).includes(activityType)) return "compliance";
  return (ACCOUNTING_CALLS as readonly string[]).includes(activityType) ? "accounting" : undefined;
}
