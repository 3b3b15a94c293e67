import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";

import { DEFAULT_CONNECTION, NAME_PATTERN } from "../contract/names.ts";
import { accountingSettings } from "./accounting-settings.ts";
import { assembleAccounting, assembleCompliance } from "./assemble-connections.ts";
import { callbackSettings } from "./callback-settings.ts";
import { checkCallbacks } from "./check-callbacks.ts";
import { checkAccountingConnections, checkComplianceConnections, checkReconciliation } from "./check-connections.ts";
import { complianceSettings } from "./compliance-settings.ts";
import { ConfigError, type ConfigProblem } from "./config-error.ts";
import { configSections, knownVariables } from "./config-reference.ts";
import type { Config, WorkerConfig } from "./config.ts";
import { plaintextProblem } from "./ledger-url.ts";
import { nearMiss } from "./near-miss.ts";
import { ledgerSettings, LOOPBACK, processSettings, temporalSettings, workerSettings } from "./process-settings.ts";
import { CONFIG_FILE_VARIABLE, readConfigFile } from "./read-config-file.ts";
import {
  asObject,
  type Environment,
  joinPath,
  readSettings,
  type SettingsResult,
  type SettingTable,
  type Sources,
  variableOf,
} from "./setting.ts";
import { secretFilesOf } from "./secret-files.ts";
import { showFound } from "./show-found.ts";
import { type Timings, timingSettings } from "./timing-settings.ts";

type DialectProblems = (dialect: unknown, given: ReadonlySet<string>) => readonly string[];

export interface LoadConfigOptions {
  env: Environment;
  /** The text of the file, instead of the one that `FISCALFLOW_CONFIG` names. */
  configFileText?: string;
  /** Reads the configuration file, secrets and dialects; throws where it cannot. Default: from disk, as UTF-8. */
  readFile?: (path: string) => string;
  /** Where relative paths of variables start. Default: the process's. */
  workingDirectory?: string;
  /** Parts without which the caller cannot do its work: their absence is a problem too. */
  needs?: readonly ("compliance" | "accounting" | "callbacks")[];
  /**
   * The clients' check of a dialect: a message for each problem. They are given which settings its connection
   * has too. Without, dialects are not looked into.
   */
  dialectProblems?: { compliance?: DialectProblems; accounting?: DialectProblems };
}

/**
 * Reads and checks the whole configuration: variables first, then the file. Connects to
 * nothing.
 * @throws ConfigError with every problem that there is
 */
export function loadConfig(options: LoadConfigOptions): Config {
  const { env, readFile = readUtf8, workingDirectory = process.cwd(), needs = [] } = options;
  const problems: ConfigProblem[] = [];
  const from = (folder: string) => (path: string) => readFile(resolve(folder, path));
  const path = variableOf(env, CONFIG_FILE_VARIABLE);
  const configFile = { path, text: options.configFileText, readFile: from(workingDirectory) };
  const file = readConfigFile(configFile, problems);
  const folderOfFile = path === undefined ? workingDirectory : dirname(resolve(workingDirectory, path));
  const sources: Sources = {
    env,
    readFile: from(workingDirectory),
    readFileOfFile: from(folderOfFile),
    pathOfFile: (name) => resolve(folderOfFile, name),
    referredVariables: new Set(),
  };

  function section<S extends SettingTable>(table: S, key: string): SettingsResult<S> {
    return readSettings(table, { file: file[key], filePath: key, useVariables: true, sources, problems });
  }

  function connections<S extends SettingTable>(table: S, key: string): (SettingsResult<S> & { name: string })[] {
    const named = file[key] === undefined ? {} : (asObject(file[key], key, problems) ?? {});
    const byVariables = Object.values(table).some(
      ({ variable }) => variable !== undefined && variableOf(env, variable) !== undefined,
    );
    const names = new Set([...(byVariables ? [DEFAULT_CONNECTION] : []), ...Object.keys(named)]);
    return [...names].map((name) => {
      const filePath = joinPath(key, name);
      if (!NAME_PATTERN.test(name)) {
        const message = `expected a connection's name of 1 to 32 characters from a-z, 0-9 and -, found ${showFound(name)}`;
        problems.push({ path: key, message });
      }
      const useVariables = name === DEFAULT_CONNECTION;
      return { name, ...readSettings(table, { file: named[name], filePath, useVariables, sources, problems }) };
    });
  }

  const compliance = connections(complianceSettings, "compliance");
  problems.push(...checkComplianceConnections(compliance));
  const accounting = connections(accountingSettings, "accounting");
  problems.push(...checkAccountingConnections(accounting), ...checkReconciliation(compliance, accounting));

  for (const [readings, check] of [
    [compliance, options.dialectProblems?.compliance],
    [accounting, options.dialectProblems?.accounting],
  ] as const) {
    for (const { values, where, given } of readings) {
      if (values.dialect === undefined) continue;
      for (const message of check?.(values.dialect, given) ?? []) problems.push({ path: where("dialect"), message });
    }
  }

  const callbackReading = section(callbackSettings, "callbacks");
  const callbacks = checkCallbacks(callbackReading, problems);
  const timings = section(timingSettings, "timings");
  problems.push(...checkTimings(timings));
  const ledgerReading = section(ledgerSettings, "ledger");
  problems.push(...checkLedger(ledgerReading));
  const ledger = ledgerReading.values;
  const temporal = section(temporalSettings, "temporal").values;
  const worker = section(workerSettings, "worker");
  problems.push(...checkWorker(worker));
  const sections = configSections.map((part) => part.path).filter((name) => name !== "");
  const running = readSettings(processSettings, {
    file,
    filePath: "",
    otherKeys: sections,
    useVariables: true,
    sources,
    problems,
  }).values;

  if (needs.includes("compliance") && compliance.length === 0) {
    const message = `no connection to the Compliance API is configured; set it and COMPLIANCE_API_KEY, or name a file with ${CONFIG_FILE_VARIABLE}`;
    problems.push({ path: "COMPLIANCE_BASE_URL", message });
  }
  if (needs.includes("accounting") && accounting.length === 0) {
    const message = `no connection to the accounting service is configured; set it and ACCOUNTING_API_KEY, or name a file with ${CONFIG_FILE_VARIABLE}`;
    problems.push({ path: "ACCOUNTING_BASE_URL", message });
  }
  if (needs.includes("callbacks") && !callbackReading.given.has("publicUrl") && !callbackReading.given.has("secrets")) {
    problems.push({ path: "CALLBACK_PUBLIC_URL", message: "no callbacks are configured; set it and CALLBACK_SECRETS" });
  }
  problems.push(...checkVariables(env, knownVariables, sources.referredVariables));
  if (problems.length > 0) throw new ConfigError(problems);
  const rulesBetween = () => [...checkComplianceConnections(compliance), ...checkAccountingConnections(accounting)];
  return {
    secretFiles: [
      ...compliance.flatMap((reading) => secretFilesOf(reading, rulesBetween)),
      ...accounting.flatMap((reading) => secretFilesOf(reading, rulesBetween)),
      ...secretFilesOf(callbackReading, rulesBetween),
    ],
    compliance: compliance.map(assembleCompliance),
    accounting: accounting.map(assembleAccounting),
    callbacks,
    timings: timings.values as Timings,
    ledger: { url: ledger.url, ownerUrl: ledger.ownerUrl, home: resolve(workingDirectory, ledger.home ?? "") },
    temporal,
    worker: worker.values as WorkerConfig,
    logLevel: running.logLevel ?? "info",
    healthPort: running.healthPort,
    metricsPort: running.metricsPort,
    healthHost: running.healthHost ?? LOOPBACK,
    metricsHost: running.metricsHost ?? LOOPBACK,
  };
}

function readUtf8(path: string): string {
  return readFileSync(path, "utf8");
}

function checkLedger({ values, where }: SettingsResult<typeof ledgerSettings>): ConfigProblem[] {
  if (values.ownerUrl !== undefined && values.url === undefined)
    return [{ path: where("ownerUrl"), message: "expected LEDGER_URL beside it, with the login of the workers" }];
  if (values.allowPlaintext === true) return [];
  return (["url", "ownerUrl"] as const).flatMap((name) => {
    const given = values[name];
    const message = given && plaintextProblem(given.reveal());
    return message === undefined ? [] : [{ path: where(name), message }];
  });
}

/** A poll holds a slot for the task that it may bring. */
function checkWorker({ values, where }: SettingsResult<typeof workerSettings>): ConfigProblem[] {
  const { workflowTasks, workflowTaskPolls } = values;
  if (workflowTasks === undefined || workflowTaskPolls === undefined || workflowTaskPolls <= workflowTasks) return [];
  const message = `expected at most ${where("workflowTasks")}, ${workflowTasks}; found ${workflowTaskPolls}`;
  return [{ path: where("workflowTaskPolls"), message }];
}

/** Waits that grow: each must be at least as long as the one before it. */
const GROWING: readonly (readonly [keyof Timings, keyof Timings])[] = [
  ["firstPollMs", "longestPollMs"],
  ["longestPollMs", "longestPollAfterDayMs"],
];

function checkTimings({ values, where }: SettingsResult<typeof timingSettings>): ConfigProblem[] {
  return GROWING.flatMap(([shorterKey, longerKey]) => {
    const [shorter, longer] = [values[shorterKey], values[longerKey]];
    if (shorter === undefined || longer === undefined || shorter <= longer) return [];
    const message = `expected at least ${where(shorterKey)}, ${shorter} milliseconds; found ${longer}`;
    return [{ path: where(longerKey), message }];
  });
}

/** Nothing but this product's timings begins like this. */
const OURS_ALONE = "FISCALFLOW_TIMING_";
/** Other programs may have variables that begin like these, so only a likely slip is refused. */
const SHARED = /^(COMPLIANCE|ACCOUNTING|CALLBACK|FISCALFLOW|LEDGER)_/;

/** Variables that are set, that nothing reads, and that were probably meant for the product. */
function checkVariables(env: Environment, known: readonly string[], referred: ReadonlySet<string>): ConfigProblem[] {
  return Object.keys(env).flatMap((name) => {
    if (!env[name] || known.includes(name) || referred.has(name) || !SHARED.test(name)) return [];
    const meant = nearMiss(name, known);
    if (meant !== undefined) {
      const message = `is not known; did you mean ${meant}? (A variable that the file refers to may have any name.)`;
      return [{ path: name, message }];
    }
    return name.startsWith(OURS_ALONE) ? [{ path: name, message: "is not known, so it would change nothing" }] : [];
  });
}
