import { Client } from "@temporalio/client";
import { NativeConnection } from "@temporalio/worker";
import type { Logger } from "pino";

import { type Config, type Environment, loadTemporalConnection, type TemporalConnection } from "../config/index.ts";
import { type Ledger, LedgerUnavailableError } from "../ledger/index.ts";
import { builtWorkflowBundle } from "./bundle-workflows.ts";
import { createLogger } from "./create-logger.ts";
import { createWorkers } from "./create-workers.ts";
import { startHealthServer } from "./health-server.ts";
import { installRuntime } from "./install-runtime.ts";
import { ledgerOf } from "./ledger-of.ts";
import { loadProcessConfig } from "./load-process-config.ts";
import { createReadiness, type Readiness } from "./readiness.ts";
import { connectErrorOf } from "./diagnose-temporal.ts";
import { requireListener, requireNamespace, requireSearchAttributes, temporalAddress } from "./require-temporal.ts";
import { RunningWorkers } from "./run-workers.ts";
import { sweepHeapEarly } from "./sweep-heap-early.ts";
import { unstatedSaleKey } from "./unstated-sale-key.ts";

export interface WorkerProcessOptions {
  env: Environment;
  logTo: { write(text: string): unknown };
  /** Asks to finish the calls under way and to return. */
  signal: AbortSignal;
}

/**
 * The worker process: serves until it is asked to stop, then drains.
 * @throws ConfigError, TemporalError; the failure of a worker that ended by itself
 */
export async function runWorkerProcess({ env, logTo, signal }: WorkerProcessOptions): Promise<void> {
  sweepHeapEarly();
  const config = loadProcessConfig({ env, needs: ["compliance"] });
  const temporal = loadTemporalConnection({ env });
  const log = createLogger(config.logLevel, logTo, "fiscalflow-worker");
  let readiness = notReady("starting");
  const { healthHost, healthPort, metricsHost, metricsPort } = config;
  const health =
    healthPort === undefined
      ? undefined
      : await startHealthServer({ host: healthHost, port: healthPort }, () => readiness());
  try {
    await requireListener(temporal, env);
    await installRuntime({
      log,
      metrics: metricsPort === undefined ? undefined : { host: metricsHost, port: metricsPort },
    });
    const connection = await connect(temporal, env);
    try {
      await requireNamespace(connection, temporal);
      await requireSearchAttributes(connection, temporal);
      const workflowBundle = builtWorkflowBundle();
      const { namespace } = temporal;
      const client = new Client({ connection, namespace });
      const ledger = await openedLedger(config, log);
      const serving = await createWorkers({
        config,
        connection,
        client,
        ledger,
        namespace,
        workflowBundle,
      });
      const { identity } = serving;
      try {
        const running = new RunningWorkers(serving.workers, serving);
        readiness = createReadiness({ states: () => running.states, connection, namespace, identity });
        sayWhatIsServed(log, config, temporal, { identity, taskQueues: serving.serves, healthPort: health?.port });
        for (const served of config.compliance) {
          const unstated = unstatedSaleKey(served);
          if (unstated) log.warn({ connection: served.name }, `${unstated.message}: ${unstated.todo}`);
        }
        // Nobody waits for it: it says what it finds.
        void serving.checkReach();
        signal.addEventListener("abort", () => (readiness = notReady("stopping")), { once: true });
        await untilStopped(running, signal, log);
      } finally {
        await serving.close();
        await ledger.close();
      }
    } finally {
      await connection.close();
    }
  } finally {
    await health?.close();
  }
}

async function untilStopped(running: RunningWorkers, signal: AbortSignal, log: Logger): Promise<void> {
  const stop = (): void => {
    log.info("stopping: no new work is taken, calls under way are finished; a second signal ends at once");
    // What becomes of it is in `ended`.
    running.drain().catch(() => undefined);
  };
  if (signal.aborted) stop();
  else signal.addEventListener("abort", stop, { once: true });
  try {
    await running.ended;
    log.info("stopped");
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** A database that is away holds no worker back: sales go on, and what needs a claim waits for it. */
async function openedLedger(config: Config, log: Logger): Promise<Ledger> {
  const ledger = ledgerOf(config, (line) => log.info({ home: config.ledger.home }, line));
  try {
    await ledger.ready();
  } catch (error) {
    if (!(error instanceof LedgerUnavailableError)) throw error;
    log.error({ reason: error.message }, "the ledger is away: no stock movement is sent until it is there");
  }
  return ledger;
}

function notReady(reason: string): () => Promise<Readiness> {
  return () => Promise.resolve({ ready: false, reason });
}

async function connect(temporal: TemporalConnection, env: Environment): Promise<NativeConnection> {
  try {
    return await NativeConnection.connect(temporal.connectionOptions);
  } catch (error) {
    throw await connectErrorOf(error, temporal, env);
  }
}

function sayWhatIsServed(log: Logger, config: Config, temporal: TemporalConnection, more: object): void {
  const { namespace } = temporal;
  const { metricsPort } = config;
  log.info(
    { temporal: temporalAddress(temporal), namespace, ...more, metricsPort, ...describeService(config) },
    "serving",
  );
}

/** What a worker says about itself in its log: names and hosts, never a key. */
function describeService({ compliance, accounting, callbacks, timings, worker }: Config): Record<string, unknown> {
  return {
    connections: compliance.map(({ name, environment, application, businessId, keyReach, baseUrl }) => ({
      name,
      environment,
      application,
      businessId: businessId ?? null,
      keyReach,
      api: new URL(baseUrl).host,
    })),
    accounting: accounting.map(({ name, environment, clientSecret, baseUrl }) => ({
      name,
      environment,
      signed: clientSecret !== undefined,
      api: new URL(baseUrl).host,
    })),
    callbacks: callbacks ? new URL(callbacks.publicUrl).host : "off: polling alone finishes every sale",
    nexus: worker.nexus ? "the service fiscal" : "off",
    callTimeoutMs: timings.callTimeoutMs,
  };
}
