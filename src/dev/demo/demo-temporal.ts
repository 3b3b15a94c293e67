import { type Client, Connection } from "@temporalio/client";

import { loadTemporalConnection, type TemporalConnection } from "../../config/index.ts";
import {
  MAIN_TASK_QUEUE,
  SEARCH_ATTRIBUTES,
  syncBatchWorkflowId,
  syncBillPaymentsWorkflowId,
} from "../../contract/index.ts";
import { findTemporalCli } from "../../servers/find-temporal-cli.ts";
import { type DevServer, startDevServer } from "../../servers/start-dev-server.ts";
import { whyUnusable } from "../../worker/diagnose-temporal.ts";
import { polledQueue, requireSearchAttributes, temporalAddress } from "../../worker/require-temporal.ts";
import type { DemoPlan } from "./plan.ts";

/** What the demo's worker is called in its identity. */
export const DEMO_WORKER = "fiscalflow-demo";

/** The Temporal server of a demo: its own, or the one that the environment names. */
export interface DemoTemporal {
  readonly connectionOptions: TemporalConnection["connectionOptions"];
  readonly namespace: string;
  /** Of its own server, without a slash at its end. */
  readonly uiUrl: string | undefined;
  /** Its own server starts empty and ends with it; any other remembers what earlier demos did. */
  readonly isOwn: boolean;
  /** What the product's commands need to reach it. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Ends the server of the demo's own. */
  stop(): Promise<void>;
}

interface Start {
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  readonly onProgress: (line: string) => void;
}

/** The ports that Temporal's own documentation shows, so that links and commands look familiar. */
const [PORT, UI_PORT] = [7233, 8233];

/** @throws Error that says why the server cannot be used, and what to do */
export async function demoTemporal(start: Start): Promise<DemoTemporal> {
  const { env } = start;
  const given = loadTemporalConnection({ env });
  if (given.addressGiven) {
    await requireUsable(given, env);
    const environment = Object.fromEntries(Object.entries(env).filter(([name]) => name.startsWith("TEMPORAL_")));
    return { ...given, uiUrl: undefined, isOwn: false, environment, stop: async () => undefined };
  }
  const path = await findTemporalCli(start);
  const searchAttributes = Object.values(SEARCH_ATTRIBUTES);
  const onPorts = (port: number, uiPort: number): Promise<DevServer> =>
    startDevServer({ ...start, env: { ...env, TEMPORAL_CLI_PATH: path }, searchAttributes, port, uiPort });
  const server = await onPorts(PORT, UI_PORT).catch(() => {
    start.signal.throwIfAborted();
    // Somebody has one of them: free ones serve as well.
    return onPorts(0, 0);
  });
  const { address, uiUrl } = server;
  return {
    connectionOptions: { address },
    namespace: "default",
    uiUrl,
    isOwn: true,
    environment: { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: "default" },
    stop() {
      // It keeps everything in memory: there is nothing that a slow end would save.
      server.kill();
      return server.stop();
    },
  };
}

/**
 * Whether the demo's sales can run on the given server, and nobody else would carry them: another worker of the same
 * queue would send them to the service that it is connected to, a real one perhaps.
 */
async function requireUsable(given: TemporalConnection, env: NodeJS.ProcessEnv): Promise<void> {
  const otherwise = "Or unset TEMPORAL_ADDRESS: the demo then brings its own server.";
  const problem = await whyUnusable(given, env);
  if (problem !== undefined) throw new Error(`${problem}\n${otherwise}`);
  const connection = await Connection.connect(given.connectionOptions);
  try {
    await requireSearchAttributes(connection, given);
    const { polls } = await polledQueue(connection, given.namespace);
    const identities = polls.map(({ identity }) => identity);
    // The server goes on naming the worker of a demo that ended a moment ago.
    const others = identities.filter((identity) => !identity.startsWith(`${DEMO_WORKER}-`));
    if (others.length > 0)
      throw new Error(
        `Another worker (${others.join(", ")}) serves the task queue \`${MAIN_TASK_QUEUE}\` of Temporal at ${temporalAddress(given)}, namespace ${given.namespace}, and would carry the demo's sales to its own service. Set TEMPORAL_NAMESPACE to another namespace.\n${otherwise}`,
      );
  } finally {
    await connection.close();
  }
}

/** On a server that outlives the demo: what it left open would go on in the hands of the next worker there. */
export async function endOpenWork(client: Client, { business, scenario }: DemoPlan): Promise<void> {
  const query = `${SEARCH_ATTRIBUTES.business} = ${JSON.stringify(business.id)} AND ExecutionStatus = "Running"`;
  const connection = "default";
  // Those of the accounting service belong to no business.
  const { syncBatches } = scenario.accounting;
  const open = syncBatches.map(({ id: syncBatchId }) => syncBatchWorkflowId({ connection, syncBatchId }));
  open.push(syncBillPaymentsWorkflowId(connection));
  for await (const { workflowId } of client.workflow.list({ query })) open.push(workflowId);
  for (const workflowId of open) {
    const ended = client.workflow.getHandle(workflowId).terminate("The fiscalflow demo that it belongs to has ended.");
    // It may have ended by itself meanwhile, or never have been started.
    await ended.catch(() => undefined);
  }
}
