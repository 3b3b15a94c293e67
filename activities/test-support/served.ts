import { Context } from "@temporalio/activity";
import { ApplicationFailure, ApplicationFailureCategory, type MetricMeter, noopMetricMeter } from "@temporalio/common";
import { MockActivityEnvironment } from "@temporalio/testing";
import { onTestFinished } from "vitest";

import { loadConfig } from "../../src/config/index.ts";
import { withFile } from "../../src/config/test-support/load.ts";
import type { ComplianceActivities, CreateRequest } from "../../src/contract/index.ts";
import type { Simulator, SimulatorOptions } from "../../src/dev/simulator/index.ts";
import { simulatorUnderTest } from "../../src/dev/simulator/test-support/simulator-under-test.ts";
import { createDispatchers, createTransport } from "../../src/http/transport.ts";
import { LedgerUnavailableError, type Observation } from "../../src/ledger/index.ts";
import { createComplianceRuntimes } from "../../src/worker/runtimes.ts";
import { runtimeOf } from "../compliance/calls.ts";
import type { KeyTrouble } from "../credential-circuit-breaker.ts";
import { type ActivityContext, type ComplianceRuntime, createComplianceActivities } from "../compliance/index.ts";
import { asRetryable } from "../failure.ts";
import { emptyClaims } from "./empty-claims.ts";

export const API_KEY = "cmp_sk_test_simulator";

export interface ServeOptions {
  simulator?: SimulatorOptions;
  /** Over the variables of connection `default`, which acts for `biz_1`. */
  env?: Record<string, string>;
  /** The text of a configuration file, beside the variables. */
  configFile?: string;
  dialect?: Record<string, unknown>;
  callTimeoutMs?: number;
}

/** The activities as a worker has them, on a simulator of their own; all that is not real is the clock and the dice. */
export interface Served {
  simulator: Simulator;
  context: ActivityContext;
  runtime: ComplianceRuntime;
  activities: ComplianceActivities;
  clock: { nowMs: number };
  /** What `random` gives. */
  dice: { next: number };
  /** The alerts about the key, in order. */
  alerts: KeyAlert[];
  /** What does not fit the dialect, each time that it was seen. */
  observed: Observation[];
}

type KeyAlert = { says: "refused" | "works" } & KeyTrouble;

export const START_MS = Date.parse("2026-11-21T09:00:00Z");

export async function serve(options: ServeOptions = {}): Promise<Served> {
  const simulator = await simulatorUnderTest({ limitPerWindow: 100_000, ...options.simulator });
  const dispatchers = createDispatchers();
  onTestFinished(() => dispatchers.close());
  const env = {
    COMPLIANCE_BASE_URL: simulator.url,
    COMPLIANCE_API_KEY: API_KEY,
    COMPLIANCE_BUSINESS_ID: "biz_1",
    ...(options.dialect && { COMPLIANCE_DIALECT: JSON.stringify(options.dialect) }),
    ...options.env,
  };
  const { compliance, timings } = loadConfig(withFile(env, options.configFile ?? "{}"));
  const { callTimeoutMs = 5_000 } = options;
  const clock = { nowMs: START_MS };
  const dice = { next: 0 };
  const nowMs = () => clock.nowMs;
  const transport = createTransport(dispatchers);
  const alerts: KeyAlert[] = [];
  const watch = {
    refused: (trouble: KeyTrouble) => void alerts.push({ says: "refused", ...trouble }),
    works: (trouble: KeyTrouble) => void alerts.push({ says: "works", ...trouble }),
  };
  const observed: Observation[] = [];
  const observer = { note: (observation: Observation) => void observed.push(observation) };
  const connections = createComplianceRuntimes(compliance, { ...timings, callTimeoutMs }, () => transport, nowMs, {
    readKeysAgain() {},
    watch,
    observer,
    seenBefore: () => Promise.resolve(undefined),
  });
  const ledger = await emptyClaims();
  const context: ActivityContext = { connections, ledger, observer, nowMs, random: () => dice.next };
  const runtime = runtimeOf(context, "default");
  const activities = asItsRun(context);
  return { simulator, context, runtime, activities, clock, dice, alerts, observed };
}

/** The activities after their run has opened the document's row. */
export function asItsRun(context: ActivityContext): ComplianceActivities {
  const activities = createComplianceActivities(context);
  return {
    ...activities,
    async createSale(request) {
      await openRow(context, request);
      return await activities.createSale(request);
    },
    async createCreditNote(request) {
      await openRow(context, request);
      return await activities.createCreditNote(request);
    },
  };
}

async function openRow({ ledger }: ActivityContext, { of, connection, businessId }: CreateRequest): Promise<void> {
  const asked = { ...of, stage: "submitting", startedAtMs: START_MS, date: "2026-11-21" } as const;
  const { workflowId = "", runId = "" } = Context.current().info.workflowExecution ?? {};
  try {
    await ledger.documents.open({ connection, businessId }, asked, {
      writer: { workflowId, runId },
      askedAtMs: START_MS,
    });
  } catch (error) {
    if (!(error instanceof LedgerUnavailableError)) throw error;
  }
}

const SILENT = { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} };

export interface Attempt {
  attempt?: number;
  /** By the clock of the Temporal server. */
  scheduledAtMs?: number;
  startToCloseTimeoutMs?: number;
  /** What the attempt before left behind. */
  heartbeatDetails?: unknown;
  /** Whose activity it is. */
  workflowId?: string;
  /** Takes what the activity warns of. */
  warn?: (message: string) => void;
  /** Takes what is counted, by the name of the counter. */
  count?: (name: string, labels: object) => void;
}

/** One attempt, in the context that Temporal's worker gives it. */
export function inActivity<Result>(act: () => Promise<Result>, which: Attempt = {}): Promise<Result> {
  const { attempt = 1, scheduledAtMs = START_MS, heartbeatDetails, warn } = which;
  const info = {
    attempt,
    heartbeatDetails,
    ...(which.workflowId !== undefined && {
      workflowExecution: { workflowId: which.workflowId, runId: "run-of-activity" },
    }),
    scheduledTimestampMs: scheduledAtMs,
    startToCloseTimeoutMs: which.startToCloseTimeoutMs ?? 25_000,
    currentAttemptScheduledTimestampMs: scheduledAtMs,
  };
  // The SDK warns of each attempt that fails.
  const logger = {
    ...SILENT,
    warn: (message: string) => (message === "Activity failed" ? undefined : warn?.(message)),
  };
  const createCounter = (name: string) => ({ add: (_by: number, labels: object) => which.count?.(name, labels) });
  const metricMeter = Object.assign(Object.create(noopMetricMeter) as MetricMeter, { createCounter });
  return new MockActivityEnvironment(info, { logger, metricMeter }).run<[], Result, () => Promise<Result>>(act);
}

export interface SeenFailure {
  type: string | null | undefined;
  message: string;
  /** Temporal tries it again. */
  retryable: boolean;
  /** Neither logged nor counted as trouble. */
  benign: boolean;
  pauseMs: number;
}

/** The failure in which an attempt ends, as a worker gives it; the test fails if it does not end in one. */
export async function failureOf(act: () => Promise<unknown>, which?: Attempt): Promise<SeenFailure> {
  let result: unknown;
  try {
    result = await inActivity(act, which);
  } catch (thrown) {
    const error = asRetryable(thrown, which?.attempt ?? 1, () => 0);
    if (!(error instanceof ApplicationFailure)) throw error;
    return {
      type: error.type,
      message: error.message,
      retryable: !error.nonRetryable,
      benign: error.category === ApplicationFailureCategory.BENIGN,
      pauseMs: Number(error.nextRetryDelay),
    };
  }
  throw new Error(`expected a failure, got ${JSON.stringify(result)}`);
}
