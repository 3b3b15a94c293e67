import type { ComplianceActivities } from "../../src/contract/index.ts";
import { createServiceWaitActivities } from "./await-service.ts";
import { createBranchActivities } from "./branches.ts";
import type { ActivityContext } from "./calls.ts";
import { createCreationActivities } from "./creation-activities.ts";
import { createDocumentActivities } from "./documents.ts";
import { createItemActivities } from "./items.ts";
import { createPlanActivities } from "./plan-registrations.ts";
import { createPurchaseActivities } from "./purchases.ts";
import { createReconcileActivities } from "./reconcile.ts";
import { createStockActivities } from "./stock.ts";

export { Catalogue, CatalogueRoom } from "./catalogue.ts";
export { CredentialCircuitBreaker, type KeyWatch } from "./credential-circuit-breaker.ts";
export type { ActivityContext, ComplianceRuntime } from "./calls.ts";

/** The activities of an application's two task queues: one HTTP request each, at most. */
export function createComplianceActivities(context: ActivityContext): ComplianceActivities {
  return {
    ...createBranchActivities(context),
    ...createItemActivities(context),
    ...createCreationActivities(context),
    ...createDocumentActivities(context),
    ...createStockActivities(context),
    ...createPurchaseActivities(context),
    ...createPlanActivities(context),
    ...createReconcileActivities(context),
    ...createServiceWaitActivities(context),
  };
}
