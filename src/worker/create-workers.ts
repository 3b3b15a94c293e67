import type { Client } from "@temporalio/client";
import {
  type NativeConnection,
  Runtime,
  Worker,
  type WorkerOptions,
  type WorkflowBundleWithSourceMap,
} from "@temporalio/worker";
import { randomBytes } from "node:crypto";
import { hostname } from "node:os";

import { createAccountingActivities } from "../../activities/accounting/index.ts";
import { createComplianceActivities } from "../../activities/compliance/index.ts";
import { createMainActivities } from "../../activities/main/index.ts";
import { Observer } from "../../activities/observer.ts";
import { type Config, SecretFiles } from "../config/index.ts";
import {
  accountingTaskQueue,
  complianceBackgroundTaskQueue,
  complianceTaskQueue,
  MAIN_TASK_QUEUE,
} from "../contract/index.ts";
import { createDispatchers } from "../http/dispatchers.ts";
import { createTransport } from "../http/transport.ts";
import type { Ledger } from "../ledger/index.ts";
import { createLookAtOutcome } from "../nexus/first-look.ts";
import { createFiscalHandler } from "../nexus/handler.ts";
import { createAccountingRuntimes } from "./accounting-runtimes.ts";
import { nextRetryDelayInterceptor, sendingAs, usingLargeAnswers } from "./activity-interceptors.ts";
import { ActivitySlots } from "./activity-slots.ts";
import { createCallbackUrlFor } from "./callback-url-for.ts";
import { checkReach } from "./check-reach.ts";
import { createComplianceRuntimes } from "./compliance-runtimes.ts";
import { endPolls, endsPollsItself } from "./end-polls.ts";
import type { PollGate } from "./permits.ts";
import { guardQueries } from "./query-guard.ts";
import { createRateLimiters } from "./rate-limiters.ts";
import { seenBefore } from "./seen-before.ts";
import { endLostActivities } from "./end-lost-activities.ts";
import { watchClosedRuns } from "./watch-closed-runs.ts";
import { type KeyLog, watchKeys } from "./watch-keys.ts";
import { gaugeIn, watchSecrets } from "./watch-secrets.ts";

/** Longer than the longest attempt, so that a call in flight is answered before its worker ends. */
const GRACE_BEYOND_CALL_MS = 30_000;

/** Requests of one application that may be under way at once in this process. */
const INTERACTIVE_SLOTS = 16;
const BACKGROUND_SLOTS = 4;
/** Activities of the main queue at once, as the SDK has it by default. */
const MAIN_ACTIVITIES = 100;
/** Calls through Nexus at once: each takes a few calls of Temporal. */
const NEXUS_TASKS = 20;
/**
 * Of one accounting connection: no rate limit is documented, so this alone bounds what the service is asked at once.
 */
const ACCOUNTING_SLOTS = 4;

/**
 * How long the code of one workflow may run without a pause. The SDK stops it after 5 seconds otherwise, which Node.js
 * may answer by ending the process (it stops within a hook of a promise), and with it all other runs; then the next
 * worker takes the run. A run with ten thousand signals, loaded on a busy machine, is no reason for that.
 */
const ACTIVATION_WITHIN = "60 seconds";

export interface WorkersOptions {
  config: Config;
  connection: NativeConnection;
  client: Client;
  ledger: Ledger;
  namespace: string;
  /** The workflows, bundled. */
  workflowBundle: { codePath: string } | WorkflowBundleWithSourceMap;
  /** How the workers' identity begins; default: `fiscalflow-worker`. */
  workerName?: string;
  /** Where a refused key is reported; default: the log of Temporal's runtime, which is that of the process. */
  log?: KeyLog;
  /** From 0 to 1: how much of its longest jitter a pause gets; default: `Math.random`. */
  random?: () => number;
}

export interface ServingWorkers {
  workers: Worker[];
  /** Of all of them, and of no other process: the server can be asked whether this one polls. */
  identity: string;
  /** The task queues, for the log and for people. */
  serves: string[];
  /** Ends what would wait for something to happen, so that nobody waits for it. */
  endWaits: () => void;
  /** To be waited for before the workers are shut down. */
  endPolls: () => Promise<void>;
  /** Warns of keys that do not reach what they are configured for; one call a connection. */
  checkReach: () => Promise<void>;
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
  const watch = watchKeys(options.log ?? logger, metricMeter);
  const secretFiles = new SecretFiles(config.secretFiles, watchSecrets(options.log ?? logger, gaugeIn(metricMeter)));
  const readKeysAgain = (): Promise<void> => secretFiles.readAgain();
  const { ledger, client, random = Math.random } = options;
  const workflows = client.workflow;
  const applications = new Set(config.compliance.map(({ application }) => application));
  const observer = new Observer(ledger, options.log ?? logger, Date.now);
  const limiters = createRateLimiters([...applications], {
    transport,
    counts: ledger.quota,
    fallbackLimit: config.timings.fallbackLimitPerMinute,
    failingPauseMs: config.timings.failingPauseMs,
    log: options.log ?? logger,
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
    interceptors: { activity: [withRetryDelay, usingLargeAnswers] },
    identity,
    // The SDK takes it, and does not declare it.
    isolateExecutionTimeout: ACTIVATION_WITHIN,
  };

  const callbackUrlFor = createCallbackUrlFor(config.callbacks);
  const { cachedWorkflows, workflowTasks, workflowTaskPolls, reuseV8Context, nexus } = config.worker;
  const mainSlots = new ActivitySlots(MAIN_ACTIVITIES, undefined, workflowTasks, nexus ? NEXUS_TASKS : undefined);
  const lookAtOutcome = createLookAtOutcome(client);
  const ending = new AbortController();
  const main = await Worker.create({
    ...common,
    taskQueue: MAIN_TASK_QUEUE,
    tuner: mainSlots.tuner,
    workflowBundle: options.workflowBundle,
    maxCachedWorkflows: cachedWorkflows,
    workflowTaskPollerBehavior: { type: "simple-maximum", maximum: workflowTaskPolls },
    reuseV8Context,
    activities: createMainActivities({
      ...context,
      accounting,
      callbackUrlFor,
      workflows,
      lookAtOutcome,
      ending: ending.signal,
    }),
    ...(nexus && { nexusServices: [createFiscalHandler(client, config)] }),
  });
  const log = options.log ?? logger;
  // Where no run is kept, nothing that a query did outlives its answer.
  if (cachedWorkflows > 0)
    guardQueries(main, connection, { namespace, cachedRuns: cachedWorkflows, meter: metricMeter, log });
  const workers = [main];
  const serves = [MAIN_TASK_QUEUE];
  const allSlots = [mainSlots];
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
      const slots = new ActivitySlots(most, gate);
      const interceptors = { activity: [withRetryDelay, usingLargeAnswers, sendingAs(callClass)] };
      workers.push(await Worker.create({ ...common, taskQueue, activities, tuner: slots.tuner, interceptors }));
      serves.push(taskQueue);
      allSlots.push(slots);
    }
  }
  const accountingActivities = createAccountingActivities({ ...context, accounting });
  for (const [name, { breaker }] of served) {
    const taskQueue = accountingTaskQueue(name);
    const slots = new ActivitySlots(ACCOUNTING_SLOTS, breaker);
    workers.push(await Worker.create({ ...common, taskQueue, activities: accountingActivities, tuner: slots.tuner }));
    serves.push(taskQueue);
    allSlots.push(slots);
  }
  secretFiles.start();
  const endWatch = watchClosedRuns({ client, ledger, log });
  const endLost = endLostActivities({ client, ledger, identity, log });
  const serverEndsPolls = await endsPollsItself(connection, namespace);
  return {
    workers,
    identity,
    serves,
    endWaits: () => ending.abort(),
    endPolls: () => endPolls(allSlots, serverEndsPolls),
    checkReach: () => checkReach(config.compliance, runtimes, options.log ?? logger),
    close: async () => {
      secretFiles.stop();
      await endWatch();
      await endLost();
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
