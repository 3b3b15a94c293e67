import { Client, Connection } from "@temporalio/client";
import { NativeConnection } from "@temporalio/worker";
import { randomBytes } from "node:crypto";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { createCallbackReceiver, createTemporalSignaller } from "../../callbacks/index.ts";
import type { Environment } from "../../config/index.ts";
import { SEARCH_ATTRIBUTES } from "../../contract/index.ts";
import type { Ledger } from "../../ledger/index.ts";
import { type Simulator, startSimulator } from "../simulator/index.ts";
import { createStarter, type Starter } from "../../starter/index.ts";
import type { WorkersOptions } from "../../worker/create-workers.ts";
import { ledgerOf } from "../../worker/process.ts";
import { OpenCalls } from "../../cli/open-calls.ts";
import { backOfficeJobs } from "./back-office/back-office-jobs.ts";
import type { Cleanup } from "./cleanup.ts";
import { demoConfig, demoEnvironment, type Dialects } from "./demo-config.ts";
import type { DemoPlan } from "./demo-plan.ts";
import type { DemoTemporal } from "./demo-temporal.ts";
import { DemoWorkers } from "./demo-workers.ts";

/** How long the simulated services take to answer: at once would hide the stages that a sale goes through. */
const ANSWER_MS = 100;
const LOOPBACK = "127.0.0.1";
const SILENT = { debug() {}, warn() {} };

export interface DemoStackOptions {
  readonly plan: DemoPlan;
  readonly temporal: DemoTemporal;
  readonly workflowBundle: WorkersOptions["workflowBundle"];
  /** Names other than the defaults, of the simulated services and of the configuration. */
  readonly dialects?: { readonly simulated: Dialects; readonly configured: Dialects } | undefined;
  /** Called with how to end each part before the next is started. */
  readonly cleanup: Cleanup;
  /** Looked at between the parts: one that is coming up is waited for, so that it can be ended. */
  readonly signal?: AbortSignal;
  /** Called with what is going on. */
  readonly onProgress?: (line: string) => void;
}

/** Everything that the demo needs, running. */
export interface DemoStack {
  readonly plan: DemoPlan;
  readonly temporal: DemoTemporal;
  readonly simulator: Simulator;
  readonly ledger: Ledger;
  /** What other commands need to reach the services and the ledger. */
  readonly environment: Environment;
  readonly client: Client;
  readonly starter: Starter;
  /** Not started yet. */
  readonly workers: DemoWorkers;
}

/**
 * Brings up the simulator, the callback receiver and the clients of Temporal, in the order in which they need each
 * other. @throws the signal's reason
 */
export async function startDemoStack(options: DemoStackOptions): Promise<DemoStack> {
  const { plan, temporal, cleanup, signal } = options;
  const { connectionOptions, namespace } = temporal;
  // The first: it brings up the SDK's runtime, which ends with it.
  const native = await NativeConnection.connect(connectionOptions);
  cleanup.add("worker's connection to Temporal", () => native.close());
  signal?.throwIfAborted();
  const folder = await mkdtemp(join(tmpdir(), "fiscalflow-demo-"));
  // The ledger's database runs as somebody else where this runs as root; what is secret in it has a mode of its own.
  await chmod(folder, 0o755);
  cleanup.add("temporary files", () => rm(folder, { recursive: true, force: true }));

  signal?.throwIfAborted();
  const calls = new OpenCalls();
  const connection = await Connection.connect({ ...connectionOptions, interceptors: calls.interceptors });
  cleanup.add("connection to Temporal", () => calls.close(connection));
  const client = new Client({ connection, namespace });
  if (!temporal.own) cleanup.add("open work", () => endOpenWork(client, plan));

  signal?.throwIfAborted();
  const { simulated, configured } = options.dialects ?? {};
  options.onProgress?.("starting the simulated services and the callback receiver");
  const simulator = await startSimulator({
    host: LOOPBACK,
    scenario: plan.scenario,
    latencyMs: ANSWER_MS,
    dialect: simulated?.compliance,
    accountingDialect: simulated?.accounting,
  });
  simulator.accounting.changeSettings({ latencyMs: ANSWER_MS });
  for (const fault of plan.faults) simulator.inject(fault);
  cleanup.add("simulator", () => simulator.close());

  const callbackSecret = randomBytes(32).toString("base64url");
  const signaller = createTemporalSignaller(client);
  const receiver = createCallbackReceiver({ secrets: [callbackSecret], client: signaller, log: SILENT });
  cleanup.add("callback receiver", () => receiver.close());
  const receiverUrl = await receiver.listen({ host: LOOPBACK, port: 0 });

  const accountingUrl = simulator.accounting.url;
  const services = { simulatorUrl: simulator.url, accountingUrl, receiverUrl, callbackSecret };
  const around = { plan, ...services, folder, dialects: configured };
  const config = demoConfig(around);
  // Of its own: the simulator begins with empty books each time, and so do the claims.
  const ledger = ledgerOf(config, options.onProgress);
  cleanup.add("ledger", () => ledger.close());
  await ledger.ready();

  const { workflowBundle } = options;
  const workers = new DemoWorkers({
    config,
    connection: native,
    client,
    ledger,
    namespace,
    workflowBundle,
  });
  cleanup.add("workers", () => workers.stop());
  const starter = createStarter({ client, businesses: { default: plan.businessId }, connections: ["default"] });
  return { plan, temporal, simulator, ledger, environment: demoEnvironment(around), client, starter, workers };
}

const REASON = "The fiscalflow demo that it belongs to has ended.";

/**
 * On a server that outlives the demo: what the demo left open would go on in the hands of the next worker there, which
 * is connected to other services.
 */
async function endOpenWork(client: Client, plan: DemoPlan): Promise<void> {
  const end = (workflowId: string): Promise<unknown> =>
    client.workflow
      .getHandle(workflowId)
      .terminate(REASON)
      // It may have ended by itself meanwhile, or never have been started.
      .catch(() => undefined);
  const query = `${SEARCH_ATTRIBUTES.business} = ${JSON.stringify(plan.businessId)} AND ExecutionStatus = "Running"`;
  for await (const { workflowId } of client.workflow.list({ query })) await end(workflowId);
  // Those of the accounting service belong to no business.
  for (const { workflowId } of backOfficeJobs(plan)) await end(workflowId);
}
