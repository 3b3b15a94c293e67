import type { WorkflowClient } from "@temporalio/client";

import type { MainActivities } from "../../src/contract/index.ts";
import type { AccountingRuntime } from "../accounting/index.ts";
import { resolveLines } from "../compliance/resolve-lines.ts";
import type { ActivityContext } from "../compliance/runtime.ts";
import { createLedgerActivities } from "../ledger/index.ts";
import { type CallbackUrlFor, createComposeActivities } from "./compose.ts";
import { createCreditNoteRunActivities } from "./credit-note-run.ts";
import { createEarlierCreditNote } from "./earlier-credit-note.ts";
import { createEarlierSale } from "./earlier-sale.ts";
import { createAccountingPreparations } from "./prepare-accounting.ts";
import { createJobPreparations } from "./prepare-jobs.ts";
import { createPrepareActivities } from "./prepare.ts";

export type { CallbackUrlFor } from "./compose.ts";

export interface MainContext extends ActivityContext {
  callbackUrlFor: CallbackUrlFor;
  workflows: WorkflowClient;
  accounting: ReadonlyMap<string, AccountingRuntime>;
}

/** The activities of the main task queue: no API call. */
export function createMainActivities(context: MainContext): MainActivities {
  return {
    ...createPrepareActivities(
      context.connections,
      createEarlierSale(context.ledger),
      createEarlierCreditNote(context.ledger),
    ),
    ...createJobPreparations(context.connections, context.accounting),
    ...createAccountingPreparations(context.accounting),
    ...createComposeActivities(context, context.callbackUrlFor),
    ...createCreditNoteRunActivities(context.workflows, context.random),
    ...createLedgerActivities(context),

    async itemsInCatalogue({ connection, businessId, lines, notOlderThanMs }) {
      const runtime = context.connections.get(connection);
      const sinceMs = notOlderThanMs ?? context.nowMs() - (runtime?.catalogueAgeMs ?? 0);
      const items = runtime?.catalogue.known(businessId, sinceMs);
      const result = items && resolveLines(lines, items);
      return result?.kind === "resolved" ? result : undefined;
    },
  };
}
