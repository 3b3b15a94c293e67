import { z } from "zod";
import { choiceSetting, flagSetting, hostSetting, integerSetting, portSetting, textSetting } from "./plain-settings.ts";
import { secretSetting } from "./secret-settings.ts";
import { plainUrlSetting } from "./url-settings.ts";

/**
 * Where health and metrics listen unless configured otherwise: they need no password, so nobody outside of the machine
 * asks.
 */
export const LOOPBACK = "127.0.0.1";

/** Running the processes. */
export const processSettings = {
  logLevel: choiceSetting(["trace", "debug", "info", "warn", "error", "fatal", "silent"], {
    variable: "LOG_LEVEL",
    meaning: "the lowest level that is logged: `trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`",
    fallback: "info",
  }),
  healthPort: portSetting({
    variable: "HEALTH_PORT",
    meaning: "the port on which a worker answers `/healthz` and `/readyz`",
    defaultText: "none: not served",
    example: 8081,
  }),
  metricsPort: portSetting({
    variable: "METRICS_PORT",
    meaning:
      "the port on which a worker, or the callback receiver, answers `/metrics`; each process of a host needs its own",
    defaultText: "none: not served",
    example: 9464,
  }),
  healthHost: hostSetting({
    variable: "HEALTH_HOST",
    meaning: "the IP address on which `HEALTH_PORT` listens; `0.0.0.0` or `::` for all, as in the container image",
    fallback: LOOPBACK,
  }),
  metricsHost: hostSetting({
    variable: "METRICS_HOST",
    meaning: "the IP address on which `METRICS_PORT` listens; `0.0.0.0` or `::` for all, as in the container image",
    fallback: LOOPBACK,
  }),
};

/** How much a worker process carries at once. The defaults fit a container of 1 GiB (docs/measured.md). */
export const workerSettings = {
  cachedWorkflows: integerSetting(
    { min: 10, max: 100_000, unit: "workflows" },
    {
      variable: "FISCALFLOW_WORKER_CACHED_WORKFLOWS",
      meaning: "how many open workflows a worker keeps in memory, so that it need not replay their histories",
      fallback: 500,
    },
  ),
  workflowTasks: integerSetting(
    { min: 2, max: 1_000, unit: "workflow tasks" },
    {
      variable: "FISCALFLOW_WORKER_WORKFLOW_TASKS",
      meaning: "how many workflow tasks a worker processes at once; a worker far from its Temporal server needs more",
      fallback: 40,
    },
  ),
  workflowTaskPolls: integerSetting(
    { min: 2, max: 1_000, unit: "polls" },
    {
      variable: "FISCALFLOW_WORKER_WORKFLOW_TASK_POLLS",
      meaning: "how many polls for workflow tasks a worker has open at once; at most `workflowTasks`",
      fallback: 10,
    },
  ),
  reuseV8Context: flagSetting({
    variable: "FISCALFLOW_WORKER_REUSE_V8_CONTEXT",
    meaning: "workflows share one V8 context: less memory for each cached workflow, more time for each workflow task",
    variableNote: "`1` or `0`",
    fallback: true,
  }),
  nexus: flagSetting({
    variable: "FISCALFLOW_WORKER_NEXUS",
    meaning:
      "the worker serves the Nexus service `fiscal`, by which workflows of other namespaces start sales; experimental",
    variableNote: "`1` or `0`",
    fallback: false,
  }),
};

export const ledgerSettings = {
  url: secretSetting(postgresProblem, {
    variable: "LEDGER_URL",
    meaning:
      "`postgres://…`: the server that holds the ledger. One on another host needs `?sslmode=verify-full`, and with a certificate authority of your own also `&sslrootcert=<path of its certificate>`",
    defaultText: "none: an embedded PostgreSQL in `FISCALFLOW_HOME`",
    example: { env: "SHOP_LEDGER_URL" },
  }),
  ownerUrl: secretSetting(postgresProblem, {
    variable: "LEDGER_OWNER_URL",
    meaning:
      "the same server and database with the login that owns the ledger's tables: `fiscalflow setup` makes them, or brings them to its version, and nothing else uses it",
    defaultText: "that of `LEDGER_URL`, which can then change the events too",
    example: { env: "SHOP_LEDGER_OWNER_URL" },
  }),
  allowPlaintext: flagSetting({
    variable: "LEDGER_ALLOW_PLAINTEXT",
    meaning:
      "a PostgreSQL on another host is accepted without `sslmode=verify-full`: the password and all records may then be read, or changed, on the way",
    variableNote: "`1` or `0`",
    fallback: false,
  }),
  home: textSetting(z.string().min(1), "a folder", {
    variable: "FISCALFLOW_HOME",
    meaning: "the folder in which fiscalflow keeps its data on this host, shared by its processes",
    fallback: ".fiscalflow",
    defaultText: "`.fiscalflow` in the working directory",
  }),
};

export const temporalSettings = {
  uiUrl: plainUrlSetting({
    variable: "TEMPORAL_UI_URL",
    meaning: "the address of Temporal's UI, for links: `https://cloud.temporal.io` for Temporal Cloud",
    defaultText: "none: `doctor` and `sale show --web` print filters and ids instead of links",
    example: "http://localhost:8233",
  }),
  cliPath: textSetting(z.string().min(1), "a path to an executable", {
    variable: "TEMPORAL_CLI_PATH",
    meaning: "the executable of the embedded Temporal server",
    defaultText: "searched for on `PATH`, else downloaded or built",
    example: "/usr/local/bin/temporal",
  }),
  testServerPath: textSetting(z.string().min(1), "a path to an executable", {
    variable: "TEMPORAL_TEST_SERVER_PATH",
    meaning: "the executable of the time-skipping server for tests",
    defaultText: "none",
    example: "/usr/local/bin/temporal-test-server",
  }),
};

/** A URL of PostgreSQL holds a password, so none of it is shown. */
function postgresProblem(value: string): string | undefined {
  const expected = "expected a URL postgres://user:password@host:port/database";
  if (!/^postgres(ql)?:\/\//.test(value)) return `${expected}, found a value with another beginning (not shown)`;
  if (!URL.canParse(value))
    return `${expected}, found one that is no URL (not shown); escape special characters of the password`;
  return undefined;
}
