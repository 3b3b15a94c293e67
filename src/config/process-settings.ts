import { z } from "zod";

import { secret } from "./secret-settings.ts";
import { choice, expected, flag, host, integer, port, type SettingValues, text } from "./setting-kinds.ts";
import { plainUrl, postgresProblem } from "./urls.ts";

/**
 * Where health and metrics listen unless configured otherwise: they need no password, so nobody outside of the machine
 * asks.
 */
export const LOOPBACK = "127.0.0.1";

const executable = text(/./, "a path to an executable");

/** Running the processes. */
export const processSettings = {
  logLevel: choice(["trace", "debug", "info", "warn", "error", "fatal", "silent"]).default("info").meta({
    variable: "LOG_LEVEL",
    meaning: "the lowest level that is logged: `trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`",
  }),
  healthPort: port().optional().meta({
    variable: "HEALTH_PORT",
    meaning: "the port on which a worker answers `/healthz` and `/readyz`",
    defaultText: "none: not served",
    example: 8081,
  }),
  metricsPort: port().optional().meta({
    variable: "METRICS_PORT",
    meaning:
      "the port on which a worker, or the callback receiver, answers `/metrics`; each process of a host needs its own",
    defaultText: "none: not served",
    example: 9464,
  }),
  healthHost: host().default(LOOPBACK).meta({
    variable: "HEALTH_HOST",
    meaning: "the IP address on which `HEALTH_PORT` listens; `0.0.0.0` or `::` for all, as in the container image",
  }),
  metricsHost: host().default(LOOPBACK).meta({
    variable: "METRICS_HOST",
    meaning: "the IP address on which `METRICS_PORT` listens; `0.0.0.0` or `::` for all, as in the container image",
  }),
};

/** How much a worker process carries at once. The defaults fit a container of 1 GiB (docs/measured.md). */
export const workerSettings = {
  cachedWorkflows: integer(10, 100_000, "workflows").default(500).meta({
    variable: "FISCALFLOW_WORKER_CACHED_WORKFLOWS",
    meaning: "how many open workflows a worker keeps in memory, so that it need not replay their histories",
  }),
  workflowTasks: integer(2, 1_000, "workflow tasks").default(40).meta({
    variable: "FISCALFLOW_WORKER_WORKFLOW_TASKS",
    meaning: "how many workflow tasks a worker processes at once; a worker far from its Temporal server needs more",
  }),
  workflowTaskPolls: integer(2, 1_000, "polls").default(10).meta({
    variable: "FISCALFLOW_WORKER_WORKFLOW_TASK_POLLS",
    meaning: "how many polls for workflow tasks a worker has open at once; at most `workflowTasks`",
  }),
  reuseV8Context: flag().default(true).meta({
    variable: "FISCALFLOW_WORKER_REUSE_V8_CONTEXT",
    meaning: "workflows share one V8 context: less memory for each cached workflow, more time for each workflow task",
  }),
  nexus: flag().default(false).meta({
    variable: "FISCALFLOW_WORKER_NEXUS",
    meaning:
      "the worker serves the Nexus service `fiscal`, by which workflows of other namespaces start sales; experimental",
  }),
};

export const ledgerSettings = {
  url: secret(postgresProblem)
    .optional()
    .meta({
      variable: "LEDGER_URL",
      meaning:
        "`postgres://…`: the server that holds the ledger. One on another host needs `?sslmode=verify-full`, and with a certificate authority of your own also `&sslrootcert=<path of its certificate>`",
      defaultText: "none: an embedded PostgreSQL in `FISCALFLOW_HOME`",
      example: { env: "SHOP_LEDGER_URL" },
    }),
  ownerUrl: secret(postgresProblem)
    .optional()
    .meta({
      variable: "LEDGER_OWNER_URL",
      meaning:
        "the same server and database with the login that owns the ledger's tables: `fiscalflow setup` makes them, or brings them to its version, and nothing else uses it",
      defaultText: "that of `LEDGER_URL`, which can then change the events too",
      example: { env: "SHOP_LEDGER_OWNER_URL" },
    }),
  allowPlaintext: flag().default(false).meta({
    variable: "LEDGER_ALLOW_PLAINTEXT",
    meaning:
      "a PostgreSQL on another host is accepted without `sslmode=verify-full`: the password and all records may then be read, or changed, on the way",
  }),
  home: z.string(expected("a folder")).min(1, expected("a folder")).default(".fiscalflow").meta({
    variable: "FISCALFLOW_HOME",
    meaning: "the folder in which fiscalflow keeps its data on this host, shared by its processes",
    defaultText: "`.fiscalflow` in the working directory",
  }),
};

export const temporalSettings = {
  uiUrl: plainUrl().optional().meta({
    variable: "TEMPORAL_UI_URL",
    meaning: "the address of Temporal's UI, for links: `https://cloud.temporal.io` for Temporal Cloud",
    defaultText: "none: `doctor` and `sale show --web` print filters and ids instead of links",
    example: "http://localhost:8233",
  }),
  cliPath: executable.optional().meta({
    variable: "TEMPORAL_CLI_PATH",
    meaning: "the executable of the embedded Temporal server",
    defaultText: "searched for on `PATH`, else downloaded or built",
    example: "/usr/local/bin/temporal",
  }),
  testServerPath: executable.optional().meta({
    variable: "TEMPORAL_TEST_SERVER_PATH",
    meaning: "the executable of the time-skipping server for tests",
    defaultText: "none",
    example: "/usr/local/bin/temporal-test-server",
  }),
};

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

function milliseconds(usual: number, min: number, max: number) {
  return integer(min, max, "milliseconds").default(usual);
}

export const timingSettings = {
  callTimeoutMs: milliseconds(30 * SECOND, SECOND, 5 * MINUTE).meta({
    variable: "FISCALFLOW_TIMING_CALL_TIMEOUT_MS",
    meaning: "the longest time that one call to a service may take",
  }),
  resubmissions: integer(0, 20, "times").default(3).meta({
    variable: "FISCALFLOW_TIMING_RESUBMISSIONS",
    meaning: "how many times a rejected document is resubmitted automatically at most",
  }),
  resubmissionWindowMs: milliseconds(5 * MINUTE, 0, DAY).meta({
    variable: "FISCALFLOW_TIMING_RESUBMISSION_WINDOW_MS",
    meaning: "automatic resubmissions end this long after the first rejection; from then on an operator decides",
  }),
  firstPollMs: milliseconds(5 * SECOND, SECOND, HOUR).meta({
    variable: "FISCALFLOW_TIMING_FIRST_POLL_MS",
    meaning: "the time until the first poll of a document for which no callback is expected",
  }),
  firstPollWithCallbackMs: milliseconds(MINUTE, SECOND, DAY).meta({
    variable: "FISCALFLOW_TIMING_FIRST_POLL_WITH_CALLBACK_MS",
    meaning: "the time until the first poll of a document for which a callback is expected",
  }),
  longestPollMs: milliseconds(10 * MINUTE, SECOND, DAY).meta({
    variable: "FISCALFLOW_TIMING_LONGEST_POLL_MS",
    meaning:
      "the longest time between two polls of a document; it grows with the document's age and reaches this within the first hour",
  }),
  longestPollAfterDayMs: milliseconds(4 * HOUR, SECOND, 7 * DAY).meta({
    variable: "FISCALFLOW_TIMING_LONGEST_POLL_AFTER_DAY_MS",
    meaning:
      "the longest time between two polls of a document that is more than a day old; reached gradually, as the document gets older",
  }),
  refusedKeyPauseMs: milliseconds(30 * SECOND, SECOND, 50 * SECOND).meta({
    variable: "FISCALFLOW_TIMING_REFUSED_KEY_PAUSE_MS",
    meaning:
      "after this pause a refused key is tried again, by one call of each process; later pauses grow to twenty times this",
  }),
  failingPauseMs: milliseconds(SECOND, 1, MINUTE).meta({
    variable: "FISCALFLOW_TIMING_FAILING_PAUSE_MS",
    meaning:
      "while the API fails every call, calls are made one at a time, first after this pause; later pauses grow to thirty times this",
  }),
  slowAfterMs: milliseconds(HOUR, MINUTE, 30 * DAY).meta({
    variable: "FISCALFLOW_TIMING_SLOW_AFTER_MS",
    meaning: "`authority-slow` is raised for a document that has been in flight for this long",
  }),
  unservedAfterMs: milliseconds(DAY, MINUTE, 30 * DAY).meta({
    variable: "FISCALFLOW_TIMING_UNSERVED_AFTER_MS",
    meaning:
      "`unexpected-answer` is raised for a read, or the registration of an item, that the service has not served for this long; it goes on by itself once the service answers",
  }),
  catalogueAgeMs: milliseconds(10 * MINUTE, 0, DAY).meta({
    variable: "FISCALFLOW_TIMING_CATALOGUE_AGE_MS",
    meaning: "the list of items is read again when it is this old",
  }),
  idempotencyKeyLifeMs: milliseconds(DAY, 0, 30 * DAY).meta({
    variable: "FISCALFLOW_TIMING_IDEMPOTENCY_KEY_LIFE_MS",
    meaning: "how long the API is certain to remember an idempotency key; after that a create request is not repeated",
  }),
  fallbackLimitPerMinute: integer(1, 100_000, "requests a minute").default(120).meta({
    variable: "FISCALFLOW_TIMING_FALLBACK_LIMIT_PER_MINUTE",
    meaning: "requests per minute for an application, until the API's headers state the limit",
  }),
  refundWindowMs: milliseconds(DAY, 0, 3_650 * DAY).meta({
    variable: "FISCALFLOW_TIMING_REFUND_WINDOW_MS",
    meaning:
      "how long a completed sale that does not set `refundWindow` itself stays open for a refund; 0 closes it at once",
  }),
};

export type Timings = SettingValues<typeof timingSettings>;

export type LogLevel = SettingValues<typeof processSettings>["logLevel"];
