import type { Connection } from "@temporalio/client";

import { MAIN_TASK_QUEUE } from "../../contract/index.ts";
import { CommandFailedError } from "../cli-error.ts";

export interface NexusEndpoint {
  name: string;
  /** `missing` where only a look was asked for. */
  state: "present" | "added" | "missing";
}

/**
 * Sees to it that the endpoint leads to the workers of the namespace. An endpoint belongs to the Temporal cluster, so
 * one that leads elsewhere is somebody else's, and is left as it is.
 * @throws CommandFailedError
 */
export async function ensureNexusEndpoint(
  { operatorService }: Connection,
  namespace: string,
  { name, dryRun }: { name: string; dryRun: boolean },
): Promise<NexusEndpoint> {
  const isThere = async (): Promise<boolean> => {
    const { endpoints } = await operatorService.listNexusEndpoints({ name });
    const [endpoint] = endpoints;
    if (!endpoint) return false;
    const worker = endpoint.spec?.target?.worker;
    if (worker?.namespace === namespace && worker.taskQueue === MAIN_TASK_QUEUE) return true;
    const leadsTo = worker
      ? `the task queue "${worker.taskQueue}" of the namespace "${worker.namespace}"`
      : `${endpoint.spec?.target?.external?.url}`;
    throw new CommandFailedError(
      `The Nexus endpoint "${name}" leads to ${leadsTo}, expected "${MAIN_TASK_QUEUE}" of "${namespace}". It was left as it is: choose another name, or change it with \`temporal operator nexus endpoint update --name ${name} --target-namespace ${namespace} --target-task-queue ${MAIN_TASK_QUEUE}\`.`,
    );
  };
  if (await isThere()) return { name, state: "present" };
  if (dryRun) return { name, state: "missing" };
  try {
    await operatorService.createNexusEndpoint({
      spec: { name, target: { worker: { namespace, taskQueue: MAIN_TASK_QUEUE } } },
    });
  } catch (error) {
    // Somebody else may have run setup at the same time.
    if (await isThere().catch(() => false)) return { name, state: "present" };
    const why = error instanceof Error ? error.message : String(error);
    throw new CommandFailedError(
      `The Nexus endpoint "${name}" was not created: ${why}. In Temporal Cloud, create it in its UI: target namespace "${namespace}", task queue "${MAIN_TASK_QUEUE}".`,
    );
  }
  return { name, state: "added" };
}

export function nexusEndpointLine({ name, state }: NexusEndpoint): string {
  const what = { present: "was there", added: "added", missing: "would be added" }[state];
  return `Nexus endpoint ${name}: ${what}`;
}
