import { Client, Connection } from "@temporalio/client";
import { NativeConnection } from "@temporalio/worker";
import { randomBytes } from "node:crypto";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { createCallbackReceiver, createTemporalSignaller } from "../../callbacks/index.ts";
import { type Environment, loadConfig } from "../../config/index.ts";
import type { Ledger } from "../../ledger/index.ts";
import { createStarter, type Starter } from "../../starter/index.ts";
import { createWorkers, type ServingWorkers, type WorkersOptions } from "../../worker/create-workers.ts";
import { ledgerOf } from "../../worker/ledger-of-config.ts";
import { RunningWorkers } from "../../worker/run-worker-process.ts";
import { type Simulator, type SimulatorOptions, startSimulator } from "../simulator/index.ts";
import { DEMO_WORKER, type DemoTemporal, endOpenWork } from "./demo-temporal.ts";
import type { DemoPlan } from "./plan.ts";

/** How long the simulated services take to answer: at once would hide the stages that a sale goes through. */
const ANSWER_MS = 100;
const LOOPBACK = "127.0.0.1";
const SILENT = { debug() {}, warn() {} };

/** Short enough to be watched, in the proportions of the real ones. */
const TIMINGS: Environment = {
  FISCALFLOW_TIMING_CALL_TIMEOUT_MS: "5000",
  FISCALFLOW_TIMING_FIRST_POLL_MS: "2000",
  FISCALFLOW_TIMING_FIRST_POLL_WITH_CALLBACK_MS: "20000",
  FISCALFLOW_TIMING_LONGEST_POLL_MS: "3000",
  FISCALFLOW_TIMING_LONGEST_POLL_AFTER_DAY_MS: "3000",
  // Leads to resubmissions after 2, 6 and 18 seconds.
  FISCALFLOW_TIMING_RESUBMISSION_WINDOW_MS: "32500",
};

export interface DemoStackOptions {
  readonly plan: DemoPlan;
  readonly temporal: DemoTemporal;
  readonly workflowBundle: WorkersOptions["workflowBundle"];
  /** Of the simulated services, beside the plan. */
  readonly simulated?: SimulatorOptions;
  /** Settings beside those that name the simulated services. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Gets how to end each part before the next is started. */
  readonly ends: (() => Promise<unknown>)[];
  /** Looked at between the parts: one that is coming up is waited for, so that it can be ended. */
  readonly signal?: AbortSignal;
  /** Called with what is going on. */
  readonly onProgress?: (line: string) => void;
}

/** Everything that the demo needs, running. */
export interface DemoStack {
  readonly plan: DemoPlan;
  readonly simulator: Simulator;
  readonly ledger: Ledger;
  /** What the product's commands need to reach the services and the ledger. */
  readonly environment: Record<string, string>;
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
  const { plan, temporal, ends, signal, onProgress } = options;
  const { connectionOptions, namespace } = temporal;
  // The first: it brings up the SDK's runtime, which ends with it.
  const native = await NativeConnection.connect(connectionOptions);
  ends.push(() => native.close());
  signal?.throwIfAborted();
  const home = await mkdtemp(join(tmpdir(), "fiscalflow-demo-"));
  // The ledger's database runs as somebody else where this runs as root; what is secret in it has a mode of its own.
  await chmod(home, 0o755);
  ends.push(() => rm(home, { recursive: true, force: true, maxRetries: 5 }));

  signal?.throwIfAborted();
  const connection = await Connection.connect(connectionOptions);
  ends.push(async () => {
    // The client repeats an interrupted call from a timer, and on a closed channel that throws where nobody can catch it.
    if (!signal?.aborted) await connection.close();
  });
  const client = new Client({ connection, namespace });
  if (!temporal.isOwn) ends.push(() => endOpenWork(client, plan));

  signal?.throwIfAborted();
  onProgress?.("starting the simulated services and the callback receiver");
  const simulator = await startSimulator({
    host: LOOPBACK,
    scenario: plan.scenario,
    latencyMs: ANSWER_MS,
    ...options.simulated,
  });
  simulator.accounting.changeSettings({ latencyMs: ANSWER_MS });
  for (const fault of plan.faults) simulator.inject(fault);
  ends.push(() => simulator.close());

  const secret = randomBytes(32).toString("base64url");
  const signaller = createTemporalSignaller(client);
  const receiver = createCallbackReceiver({ secrets: [secret], client: signaller, log: SILENT });
  ends.push(() => receiver.close());
  const receiverUrl = await receiver.listen({ host: LOOPBACK, port: 0 });

  // From what the demo brought up alone: the user's own settings point at real services.
  const environment = {
    COMPLIANCE_BASE_URL: simulator.url,
    COMPLIANCE_API_KEY: plan.apiKey,
    COMPLIANCE_BUSINESS_ID: plan.business.id,
    COMPLIANCE_SELLERS: JSON.stringify({ [plan.business.id]: { name: plan.business.name } }),
    COMPLIANCE_APPLICATION: "demo",
    ACCOUNTING_BASE_URL: simulator.accounting.url,
    ACCOUNTING_API_KEY: plan.accounting.apiKey,
    ...(plan.accounting.clientSecret !== undefined && { ACCOUNTING_CLIENT_SECRET: plan.accounting.clientSecret }),
    CALLBACK_PUBLIC_URL: receiverUrl,
    CALLBACK_SECRETS: secret,
    CALLBACK_ALLOW_LOOPBACK: "1",
    FISCALFLOW_HOME: home,
    ...options.settings,
  };
  const config = loadConfig({ env: { ...environment, ...TIMINGS }, needs: ["compliance", "callbacks"] });
  // Of its own: the simulator begins with empty books each time, and so do the claims.
  const ledger = ledgerOf(config, onProgress);
  ends.push(() => ledger.close());
  await ledger.ready();

  const { workflowBundle } = options;
  const workers = demoWorkers({ config, connection: native, client, ledger, namespace, workflowBundle });
  ends.push(() => workers.end("stop"));
  const starter = createStarter({ client, businesses: { default: plan.business.id }, connections: ["default"] });
  return { plan, simulator, ledger, environment, client, starter, workers };
}

/** The demo's workers, which can be stopped and started again while sales are under way. */
export interface DemoWorkers {
  start(): Promise<void>;
  /**
   * Waits for the calls in flight.
   * @param how `drain` loses no task; `stop` is for good: nobody will carry on what is not done by then
   */
  end(how: "drain" | "stop"): Promise<void>;
  /** Rejects when a worker fails by itself; never resolves. */
  readonly failed: Promise<never>;
}

function demoWorkers(options: WorkersOptions): DemoWorkers {
  let running: { serving: ServingWorkers; workers: RunningWorkers } | undefined;
  let fail: (error: unknown) => void = () => undefined;
  const failed = new Promise<never>((_resolve, reject) => (fail = reject));
  failed.catch(() => undefined);
  return {
    failed,
    async start() {
      const serving = await createWorkers({ ...options, workerName: DEMO_WORKER });
      running = { serving, workers: new RunningWorkers(serving.workers, serving) };
      running.workers.ended.catch(fail);
    },
    async end(how) {
      await running?.workers[how]();
      await running?.serving.close();
      running = undefined;
    },
  };
}
