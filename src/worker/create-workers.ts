import { Context } from "@temporalio/activity";
import type { Client } from "@temporalio/client";
import { DefaultFailureConverter, type WorkerDeploymentVersion } from "@temporalio/common";
import {
  type ActivityInterceptorsFactory,
  type NativeConnection,
  Runtime,
  Worker,
  type WorkerOptions,
  type WorkflowBundleWithSourceMap,
} from "@temporalio/worker";
import { randomBytes } from "node:crypto";
import { hostname } from "node:os";

import { createAccountingActivities } from "../../activities/accounting.ts";
import type { SeenBefore } from "../../activities/classified-call.ts";
import { createComplianceActivities } from "../../activities/compliance/index.ts";
import { asRetryable } from "../../activities/failure.ts";
import { createMainActivities } from "../../activities/main/index.ts";
import { Observer } from "../../activities/observer.ts";
import type { Config } from "../config/index.ts";
import {
  accountingTaskQueue,
  complianceBackgroundTaskQueue,
  complianceTaskQueue,
  firstTrouble,
  MAIN_TASK_QUEUE,
} from "../contract/index.ts";
import { createDispatchers, createTransport } from "../http/transport.ts";
import type { Ledger } from "../ledger/index.ts";
import { createFiscalHandler, createLookAtOutcome } from "../nexus/handler.ts";
import { dataConverterOf } from "../payloads/index.ts";
import { type CallClass, callingAs } from "../quota/index.ts";
import { pendingCallsOf } from "../starter/runs.ts";
import { builtBuildId, encodingFailures } from "./bundle-workflows.ts";
import { watchFleet } from "./fleet-metrics.ts";
import { endLostActivities, watchClosedRuns, watchUnservedVersion } from "./each-minute.ts";
import { endPolls, endsPollsItself, Permits, type PollGate, tunerOf } from "./permits.ts";
import { guardQueries } from "./query-guard.ts";
import {
  createAccountingRuntimes,
  createCallbackUrlFor,
  createComplianceRuntimes,
  createRateLimiters,
} from "./runtimes.ts";
import { gaugeIn, type KeyLog, watchKeys, watchSecrets } from "./watches.ts";

/** Longer than the longest attempt, so that a call in flight is answered before its worker ends. */
export const GRACE_BEYOND_CALL_MS = 30_000;

/** Requests of one application that may be under way at once in this process. */
const INTERACTIVE_SLOTS = 16;
const BACKGROUND_SLOTS = 4;
/** Activities of the main queue at once, as the SDK has it by default. */
const MAIN_ACTIVITIES = 100;
/** Calls through Nexus at once: each takes a few calls of Temporal. */
const NEXUS_TASKS = 20;
/** Of one accounting connection, whose service documents no rate limit. */
const ACCOUNTING_SLOTS = 4;

/** The longest that the code of one workflow may run without a pause (docs/decisions, "Workarounds for the SDK", G). */
export const ACTIVATION_WITHIN = "60 seconds";

export interface WorkersOptions {
  config: Config;
  connection: NativeConnection;
  client: Client;
  ledger: Ledger;
  namespace: string;
  /** The workflows, bundled. */
  workflowBundle: { codePath: string } | WorkflowBundleWithSourceMap;
  /** The version of the workers where they belong to a Worker Deployment; default: that of the build. */
  buildId?: string;
  /** How the workers' identity begins; default: `fiscalflow-worker`. */
  workerName?: string;
  /** Where a refused key is reported; default: the log of Temporal's runtime, which is that of the process. */
  log?: KeyLog;
  /** What keeps this process from Temporal although somebody listens there, for the log; default: nobody looks. */
  whyAway?: () => Promise<string | undefined>;
  /** From 0 to 1: how much of its longest jitter a pause gets; default: `Math.random`. */
  random?: () => number;
}

export interface ServingWorkers {
  workers: Worker[];
  /** Of all of them, and of no other process: the server can be asked whether this one polls. */
  identity: string;
  /** What the workers of the main queue are among the versions of a Worker Deployment. */
  version: WorkerDeploymentVersion | undefined;
  /** The task queues, for the log and for people. */
  serves: string[];
  /** Ends what would wait for something to happen, so that nobody waits for it. */
  endWaits: () => void;
  /** To be waited for before the workers are shut down. */
  endPolls: () => Promise<void>;
  close: () => Promise<void>;
}

/**
 * One worker for the main queue, two for each application (docs/architecture.md, "One budget"), one for each accounting
 * connection.
 */
export async function createWorkers(options: WorkersOptions): Promise<ServingWorkers> {
  const { config, connection, namespace } = options;
  const identity = workerIdentity(options.workerName ?? "fiscalflow-worker");
  const dispatchers = createDispatchers();
  const transport = createTransport(dispatchers);
  const { logger, metricMeter } = Runtime.instance();
  const { ledger, client, log = logger, random = Math.random, whyAway } = options;
  const watch = watchKeys(log, metricMeter);
  const readKeysAgain = (): void => config.secretFiles.readAgain();
  const applications = new Set(config.compliance.map(({ application }) => application));
  const observer = new Observer(ledger, log, Date.now);
  const limiters = createRateLimiters([...applications], {
    transport,
    counts: ledger.quota,
    fallbackLimit: config.timings.fallbackLimitPerMinute,
    failingPauseMs: config.timings.failingPauseMs,
    log,
    meter: metricMeter,
  });
  const runtimes = createComplianceRuntimes(config.compliance, config.timings, limiters.of, Date.now, {
    readKeysAgain,
    watch,
    observer,
    seenBefore: seenBefore(client),
  });
  const served = createAccountingRuntimes(config.accounting, config.timings, {
    transport,
    readKeysAgain,
    watch,
    meter: metricMeter,
    seenBefore: seenBefore(client),
  });
  const accounting = new Map([...served].map(([name, { runtime }]) => [name, runtime]));
  const context = { connections: runtimes, ledger, observer, nowMs: Date.now, random };
  const withRetryDelay = nextRetryDelayInterceptor(random);
  const common: Partial<WorkerOptions> & { isolateExecutionTimeout: string } = {
    connection,
    namespace,
    shutdownGraceTime: config.timings.callTimeoutMs + GRACE_BEYOND_CALL_MS,
    interceptors: { activity: [withRetryDelay] },
    identity,
    // The SDK takes it, and does not declare it.
    isolateExecutionTimeout: ACTIVATION_WITHIN,
    dataConverter: dataConverterOf(config.payloadKeys),
  };

  const encrypts = config.payloadKeys.length > 0;
  const callbackUrlFor = createCallbackUrlFor(config.callbacks);
  const { cachedWorkflows, workflowTasks, nexus, deployment } = config.worker;
  const version =
    deployment === undefined ? undefined : { deploymentName: deployment, buildId: options.buildId ?? builtBuildId() };
  const mainPermits = new Permits(MAIN_ACTIVITIES);
  const lookAtOutcome = createLookAtOutcome(client);
  const ending = new AbortController();
  // The threads of the workflows take half a second to start: the other workers are made meanwhile.
  const makingMain = Worker.create({
    ...common,
    taskQueue: MAIN_TASK_QUEUE,
    tuner: tunerOf(mainPermits, { workflowTasks, nexusTasks: nexus ? NEXUS_TASKS : undefined }),
    workflowBundle: encrypts ? await encodingFailures(options.workflowBundle) : options.workflowBundle,
    maxCachedWorkflows: cachedWorkflows,
    workflowTaskPollerBehavior: { type: "simple-maximum", maximum: Math.max(2, Math.ceil(workflowTasks / 4)) },
    activities: createMainActivities({
      ...context,
      accounting,
      callbackUrlFor,
      workflows: client.workflow,
      lookAtOutcome,
      ending: ending.signal,
    }),
    ...(nexus && { nexusServices: [createFiscalHandler(client, config)] }),
    // Not the API's queues: a call of any build is carried out by any worker, under the one budget.
    ...(version && {
      workerDeploymentOptions: { version, useWorkerVersioning: true, defaultVersioningBehavior: "AUTO_UPGRADE" },
    }),
  });
  const making: Promise<Worker>[] = [];
  const serves = [MAIN_TASK_QUEUE];
  const allPermits = [mainPermits];
  const serve = (
    taskQueue: string,
    permits: Permits,
    more: Pick<WorkerOptions, "activities" | "interceptors">,
  ): void => {
    making.push(Worker.create({ ...common, taskQueue, tuner: tunerOf(permits), ...more }));
    serves.push(taskQueue);
    allPermits.push(permits);
  };
  const activities = createComplianceActivities(context);
  for (const application of applications) {
    const limiter = limiters.of(application);
    const queues = [
      { taskQueue: complianceTaskQueue(application), callClass: "interactive", most: INTERACTIVE_SLOTS },
      { taskQueue: complianceBackgroundTaskQueue(application), callClass: "background", most: BACKGROUND_SLOTS },
    ] as const;
    for (const { taskQueue, callClass, most } of queues) {
      const gate: PollGate = {
        isOpen: () => limiter.isOpen(callClass),
        whenOpen: (listener) => limiter.whenOpen(callClass, listener),
      };
      const interceptors = { activity: [withRetryDelay, sendingAs(callClass)] };
      serve(taskQueue, new Permits(most, gate), { activities, interceptors });
    }
  }
  const accountingActivities = createAccountingActivities({ ...context, accounting });
  for (const [name, { breaker }] of served)
    serve(accountingTaskQueue(name), new Permits(ACCOUNTING_SLOTS, breaker), {
      activities: accountingActivities,
    });
  const workers = await Promise.all([makingMain, ...making]);
  // Where no run is kept, nothing that a query did outlives its answer.
  if (cachedWorkflows > 0)
    guardQueries(workers[0], connection, { namespace, cachedRuns: cachedWorkflows, meter: metricMeter, log });
  // The SDK takes a converter by the path of a CommonJS module alone (decision 23).
  const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });
  if (encrypts) for (const { options: made } of workers) made.loadedDataConverter.failureConverter = failureConverter;
  const endReadings = config.secretFiles.start(watchSecrets(log, gaugeIn(metricMeter)));
  const endWatch = watchClosedRuns({ client, ledger, log });
  const endLost = endLostActivities({ client, ledger, identity, log });
  const endUnserved = watchUnservedVersion({ client, log, meter: metricMeter, whyAway });
  const isMeasured = config.metricsPort !== undefined;
  const endFleet = isMeasured ? watchFleet({ client, ledger, meter: metricMeter, identity, log }) : undefined;
  const serverEndsPolls = await endsPollsItself(connection, namespace);
  return {
    workers,
    identity,
    version,
    serves,
    endWaits: () => ending.abort(),
    endPolls: () => endPolls(allPermits, serverEndsPolls),
    close: async () => {
      endReadings();
      watch.close();
      await endWatch();
      await endLost();
      await endUnserved();
      await endFleet?.();
      await limiters.close();
      await dispatchers.close();
    },
  };
}

/**
 * No two may be alike, also of one process: the query guard tells by it which workflow tasks its own worker has
 * completed.
 */
function workerIdentity(name: string): string {
  return `${name}-${process.pid}-${randomBytes(6).toString("hex")}@${hostname()}`;
}

/** Tells the rate limiter of which class a worker's calls are: that of its task queue. Activities need not know. */
function sendingAs(callClass: CallClass): ActivityInterceptorsFactory {
  return () => ({ inbound: { execute: (input, next) => callingAs(callClass, () => next(input)) } });
}

/**
 * Gives an attempt's error that has no pause of its own one: the retry policies leave every pause to the failures
 * (decision 0014).
 */
function nextRetryDelayInterceptor(random: () => number): ActivityInterceptorsFactory {
  return ({ info }) => ({
    inbound: {
      execute: async (input, next) => {
        try {
          return await next(input);
        } catch (error) {
          throw asRetryable(error, info.attempt, random);
        }
      },
    },
  });
}

/** The answer only says since when something is so: nobody is to wait for it. */
const ANSWER_WITHIN_MS = 2_000;

/**
 * What the last attempt of the call that is made now, or another pending call of its workflow, says of a trouble:
 * Temporal keeps that over any restart of the workers.
 */
function seenBefore(client: Client): SeenBefore {
  return async ({ kind, service }) => {
    const { workflowExecution } = Context.current().info;
    if (!workflowExecution) return undefined;
    const { workflowId, runId } = workflowExecution;
    try {
      const run = await client.withDeadline(Date.now() + ANSWER_WITHIN_MS, () =>
        client.workflow.getHandle(workflowId, runId).describe(),
      );
      const troubles = (await pendingCallsOf(client, run)).map(({ trouble }) => trouble);
      return firstTrouble(troubles.filter((trouble) => trouble?.kind === kind && trouble.service === service));
    } catch {
      return undefined;
    }
  };
}
