/**
 * The processes that serve, the worker, the callback receiver and the codec server: how they are made from the
 * configuration, watched, and stopped, and the checks of what they stand on, which the command line makes too. Here
 * everything that an activity needs is made and handed to it (`runtimes.ts`). What they serve is in `activities/`,
 * `src/callbacks/`, `src/nexus/`, and in `workflows/`, which are bundled by their path and never imported.
 *
 * Stands on: `activities`, `activities/compliance`, `activities/main`, `src/accounting`, `src/callbacks`,
 * `src/compliance`, `src/config`, `src/contract`, `src/contract/schema`, `src/http`, `src/ledger`, `src/nexus`,
 * `src/payloads`, `src/quota`, `src/starter`.
 */
import { Client, isGrpcServiceError } from "@temporalio/client";
import { NativeConnection, Runtime, type Worker } from "@temporalio/worker";
import type { Logger } from "pino";

import { type Config, ConfigError, loadTemporalConnection, type TemporalConnection } from "../config/index.ts";
import { type Ledger, LedgerUnavailableError } from "../ledger/index.ts";
import { dataConverterOf, keysBeyond } from "../payloads/index.ts";
import { payloadKeyId } from "../payloads/keys.ts";
import { MAIN_TASK_QUEUE } from "../contract/index.ts";
import { beginProcess, type ProcessOptions } from "./begin-process.ts";
import { builtWorkflowBundle } from "./bundle-workflows.ts";
import { unstatedSaleKey } from "./check-connection.ts";
import { createWorkers } from "./create-workers.ts";
import { connectErrorOf, handshakeProblem } from "./diagnose-temporal.ts";
import { createReadiness, type Readiness, startHealthServer } from "./health.ts";
import { LedgerWitness } from "./ledger-witness.ts";
import { installRuntime } from "./install-runtime.ts";
import { ledgerOf } from "./ledger-of-config.ts";
import { requireListener, requireNamespace, requireSearchAttributes, temporalAddress } from "./require-temporal.ts";

/** Beside the call that got no answer, within the time that a probe usually allows. */
const HANDSHAKE_MS = 1_000;

/**
 * The worker process: serves until it is asked to stop, then drains.
 * @throws ConfigError, TemporalError; the failure of a worker that ended by itself
 */
export async function runWorkerProcess(options: ProcessOptions): Promise<void> {
  const { env, signal } = options;
  const { config, log } = beginProcess(options, "fiscalflow-worker", { needs: ["compliance"] });
  const temporal = loadTemporalConnection({ env });
  const whyAway = () => handshakeProblem(temporal, HANDSHAKE_MS);
  let readiness = notReady("starting");
  const { monitoringHost: host, healthPort, metricsPort } = config;
  const health =
    healthPort === undefined ? undefined : await startHealthServer({ host, port: healthPort }, () => readiness());
  try {
    await requireListener(temporal, env);
    await installRuntime({
      log,
      metrics: metricsPort === undefined ? undefined : { host, port: metricsPort },
      buckets: RECEIPT_BUCKETS,
    });
    const connection = await connect(temporal);
    try {
      await requireNamespace(connection, temporal);
      await requireSearchAttributes(connection, temporal);
      await requirePayloadKeys(connection, temporal.namespace, config, log);
      const workflowBundle = builtWorkflowBundle();
      const { namespace } = temporal;
      const client = new Client({ connection, namespace, dataConverter: dataConverterOf(config.payloadKeys) });
      const witness = new LedgerWitness(client, Runtime.instance().logger);
      const ledger = await openedLedger(config, log, witness);
      const endWitness = witness.watch(ledger);
      const serving = await createWorkers({
        config,
        connection,
        client,
        ledger,
        namespace,
        workflowBundle,
        whyAway,
      });
      const { identity, version } = serving;
      try {
        const running = new RunningWorkers(serving.workers, serving);
        readiness = createReadiness({
          states: () => running.states,
          connection,
          namespace,
          identity,
          whyAway,
        });
        sayWhatIsServed(log, config, temporal, {
          identity,
          version,
          taskQueues: serving.serves,
          healthPort: health?.port,
        });
        for (const served of config.compliance) {
          const unstated = unstatedSaleKey(served);
          if (unstated) log.warn({ connection: served.name }, `${unstated.message}: ${unstated.todo}`);
        }
        signal.addEventListener("abort", () => (readiness = notReady("stopping")), { once: true });
        await untilStopped(running, signal, log);
      } finally {
        await serving.close();
        await endWitness();
        await ledger.close();
      }
    } catch (error) {
      // Workers of a start that fails half way hold it: that it cannot be closed must not hide why the start failed.
      await connection.close().catch(() => undefined);
      throw error;
    }
    await connection.close();
  } finally {
    await health?.close();
  }
}

/**
 * A payload that nobody can decrypt fails the workflow tasks of its run for as long as the worker lacks the key. Lists may
 * be away while Temporal runs workflows: then nobody can tell, and sales go on.
 * @throws ConfigError that names the keys
 */
async function requirePayloadKeys(
  connection: NativeConnection,
  namespace: string,
  { payloadKeys }: Config,
  log: Logger,
): Promise<void> {
  const known = payloadKeys.map((key) => payloadKeyId(key.reveal()));
  const query = `TaskQueue = "${MAIN_TASK_QUEUE}" AND ExecutionStatus = "Running"`;
  const lacking = await keysBeyond(known, connection, { namespace, query }).catch((error: unknown) => {
    if (!isGrpcServiceError(error)) throw error;
    log.warn(
      { reason: error.details },
      "Temporal does not list the open workflows, so whether their keys are here is not known",
    );
    return new Map<string, string>();
  });
  if (lacking.size === 0) return;
  throw new ConfigError(
    [...lacking].map(([id, workflowId]) => ({
      path: "FISCALFLOW_PAYLOAD_KEYS",
      message: `lacks the key "${id}", which open workflows need (${workflowId}, for one); add it behind the first`,
    })),
  );
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

/** Seconds: most receipts come at once, and an authority that is away may take days. */
const RECEIPT_BUCKETS = { fiscalflow_receipt: [0.5, 1, 2, 5, 10, 30, 60, 300, 900, 3_600, 21_600, 86_400] };

/** A database that is away holds no worker back: sales go on, and what needs a claim waits for it. */
async function openedLedger(config: Config, log: Logger, { seen }: LedgerWitness): Promise<Ledger> {
  const ledger = ledgerOf(config, (line) => log.info({ home: config.ledger.home }, line), { seen });
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

async function connect(temporal: TemporalConnection): Promise<NativeConnection> {
  try {
    return await NativeConnection.connect(temporal.connectionOptions);
  } catch (error) {
    throw await connectErrorOf(error, temporal);
  }
}

/** Names and hosts, never a key. */
function sayWhatIsServed(log: Logger, config: Config, temporal: TemporalConnection, more: object): void {
  const { compliance, accounting, callbacks, timings, worker, metricsPort } = config;
  const service = {
    connections: compliance.map(({ name, environment, application, businessId, keyReach, baseUrl }) => {
      const api = new URL(baseUrl).host;
      return { name, environment, application, businessId: businessId ?? null, keyReach, api };
    }),
    accounting: accounting.map(({ name, environment, clientSecret, baseUrl }) => {
      return { name, environment, signed: clientSecret !== undefined, api: new URL(baseUrl).host };
    }),
    callbacks: callbacks ? new URL(callbacks.publicUrl).host : "off: polling alone finishes every sale",
    nexus: worker.nexus ? "the service fiscal" : "off",
    callTimeoutMs: timings.callTimeoutMs,
  };
  const { namespace } = temporal;
  log.info({ temporal: temporalAddress(temporal), namespace, ...more, metricsPort, ...service }, "serving");
}

/** What ends before the workers do. */
interface Ends {
  /** Ends each activity that waits for something to happen. */
  endWaits: () => void;
  /** Resolves when no poll is open whose task a shutdown would lose. */
  endPolls: () => Promise<void>;
}

/** Runs workers together until they are shut down. One that fails takes the others down with it, gracefully. */
export class RunningWorkers {
  readonly #workers: readonly Worker[];
  readonly #ends: Ends;
  readonly #ended: Promise<void>;
  #draining: Promise<void> | undefined;

  constructor(workers: readonly Worker[], ends: Ends) {
    this.#workers = workers;
    this.#ends = ends;
    const runs = workers.map((worker) =>
      worker.run().catch((error: unknown) => {
        void this.#endPollsThenShutdown();
        throw error;
      }),
    );
    this.#ended = Promise.allSettled(runs).then((results) => {
      for (const result of results) if (result.status === "rejected") throw result.reason;
    });
    // A caller that waits for the end hears of a failure; nobody has to.
    this.#ended.catch(() => undefined);
  }

  get states(): string[] {
    return this.#workers.map((worker) => worker.getState());
  }

  /** Rejects with the first failure. */
  get ended(): Promise<void> {
    return this.#ended;
  }

  /** Takes no new work without losing any that is being handed out, and waits for calls in flight to be answered. */
  async drain(): Promise<void> {
    await this.#endPollsThenShutdown();
    await this.#ended;
  }

  /** As {@link drain}, but at once: for the case that no task can be lost, or that it does not matter. */
  async stop(): Promise<void> {
    this.#ends.endWaits();
    this.#shutdownAll();
    await this.#ended;
  }

  #endPollsThenShutdown(): Promise<void> {
    this.#ends.endWaits();
    this.#draining ??= this.#ends.endPolls().finally(() => this.#shutdownAll());
    return this.#draining;
  }

  #shutdownAll(): void {
    for (const worker of this.#workers) if (worker.getState() === "RUNNING") worker.shutdown();
  }
}
