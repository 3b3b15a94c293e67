/**
 * The activities of an application's queues: one request of the Fiscal Compliance API each. What follows from an
 * answer, the workflow decides; the request budget is in the transport of the client that they are given.
 *
 * Stands on: `activities`, `src/compliance`, `src/contract`, `src/http`, `src/ledger`.
 */
import type { ComplianceActivities } from "../../src/contract/index.ts";
import { createBusinessActivities } from "./businesses.ts";
import type { ActivityContext } from "./calls.ts";
import { createCreationActivities } from "./creations.ts";
import { createDocumentActivities } from "./documents.ts";
import { createItemActivities } from "./items.ts";
import { createPurchaseActivities } from "./purchases.ts";
import { createStockActivities } from "./stock.ts";

export { Catalogue } from "./catalogue.ts";
export { CredentialCircuitBreaker, type KeyWatch } from "../credential-circuit-breaker.ts";
export type { ActivityContext, ComplianceRuntime } from "./calls.ts";

/** The activities of an application's two task queues: one HTTP request each, at most. */
export function createComplianceActivities(context: ActivityContext): ComplianceActivities {
  return {
    ...createBusinessActivities(context),
    ...createItemActivities(context),
    ...createCreationActivities(context),
    ...createDocumentActivities(context),
    ...createStockActivities(context),
    ...createPurchaseActivities(context),
  };
}
