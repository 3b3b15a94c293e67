import type { WorkflowClient } from "@temporalio/client";

import type { ConnectionProfile, MainActivities } from "../../src/contract/index.ts";
import { resolveLines } from "../compliance/resolve-lines.ts";
import { type ActivityContext, runtimeOf } from "../compliance/runtime.ts";
import { type CallbackSigning, createComposeActivities } from "./compose.ts";
import { createCreditNoteRunActivities } from "./credit-note-run.ts";
import { createPrepareActivities } from "./prepare.ts";

export type { CallbackSigning } from "./compose.ts";

export interface MainContext extends ActivityContext {
  callbacks: CallbackSigning | undefined;
  workflows: WorkflowClient;
}

/** The activities of the main task queue: no API call. */
export function createMainActivities(context: MainContext): MainActivities {
  const profiles = new Map<string, ConnectionProfile>(
    [...context.connections].map(([name, runtime]) => [name, runtime.profile]),
  );
  return {
    ...createPrepareActivities(profiles),
    ...createComposeActivities(context, context.callbacks),
    ...createCreditNoteRunActivities(context.workflows, context.random),

    async itemsInCatalogue({ connection, businessId, lines, notOlderThanMs }) {
      const { catalogue, catalogueAgeMs } = runtimeOf(context, connection);
      const items = catalogue.known(businessId, notOlderThanMs ?? context.nowMs() - catalogueAgeMs);
      return items && resolveLines(lines, items);
    },
  };
}
