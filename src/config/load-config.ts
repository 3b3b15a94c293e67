import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";

import { DEFAULT_CONNECTION, NAME_PATTERN } from "../contract/names.ts";
import { assembleAccounting, assembleCompliance, valuesOf } from "./assemble-config.ts";
import {
  checkAccountingConnections,
  checkCallbacks,
  checkComplianceConnections,
  checkLedger,
  checkReconciliation,
  checkTimings,
  checkVariables,
  checkWorker,
  wantsCallbacks,
} from "./check-settings.ts";
import { ConfigError, type ConfigProblem, reasonOf, showFound } from "./config-error.ts";
import { configSections, knownVariables } from "./config-reference.ts";
import { accountingSettings, callbackSettings, complianceSettings } from "./connection-settings.ts";
import { parseJsonc } from "./parse-jsonc.ts";
import {
  ledgerSettings,
  processSettings,
  temporalSettings,
  timingSettings,
  workerSettings,
} from "./process-settings.ts";
import { asObject, joinPath, readSettings, type SettingsReading } from "./read-settings.ts";
import { secretFilesOf } from "./secret-files.ts";
import { type Environment, type SettingTable, type Sources, variableOf } from "./setting-kinds.ts";
import { addressOf } from "./urls.ts";

const CONFIG_FILE_VARIABLE = "FISCALFLOW_CONFIG";

/** The whole configuration of a process of the product, checked. */
export type Config = ReturnType<typeof loadConfig>;

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
export function loadConfig(options: LoadConfigOptions) {
  const { env, readFile = readUtf8, workingDirectory = process.cwd(), needs = [] } = options;
  const problems: ConfigProblem[] = [];
  const from = (folder: string) => (path: string) => readFile(resolve(folder, path));
  const path = variableOf(env, CONFIG_FILE_VARIABLE);
  const file = readConfigFile(path, options.configFileText, from(workingDirectory), problems);
  const folderOfFile = path === undefined ? workingDirectory : dirname(resolve(workingDirectory, path));
  const referredVariables = new Set<string>();
  const sources: Sources = {
    env,
    readFile: from(workingDirectory),
    readFileOfFile: from(folderOfFile),
    pathOfFile: (name) => resolve(folderOfFile, name),
    refersTo: (variable) => void referredVariables.add(variable),
  };

  function section<S extends SettingTable>(
    table: S,
    key: string,
    check: (reading: SettingsReading<S>) => ConfigProblem[] = () => [],
  ): SettingsReading<S> {
    const reading = readSettings(table, { file: file[key], filePath: key, useVariables: true, sources, problems });
    problems.push(...check(reading));
    return reading;
  }

  function connections<S extends SettingTable>(table: S, key: string): (SettingsReading<S> & { name: string })[] {
    const named = file[key] === undefined ? {} : (asObject(file[key], key, problems) ?? {});
    const variables = Object.values(table).map((schema) => schema.meta()?.variable ?? "");
    const byVariables = variables.some((variable) => variableOf(env, variable) !== undefined);
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
  const callbacks = section(callbackSettings, "callbacks", checkCallbacks);
  const timings = section(timingSettings, "timings", checkTimings);
  const ledger = section(ledgerSettings, "ledger", checkLedger);
  const temporal = section(temporalSettings, "temporal");
  const worker = section(workerSettings, "worker", checkWorker);
  const otherKeys = configSections.map((part) => part.path).filter((name) => name !== "");
  const running = readSettings(processSettings, {
    file,
    filePath: "",
    otherKeys,
    useVariables: true,
    sources,
    problems,
  });

  if (needs.includes("compliance") && compliance.length === 0) {
    const message = `no connection to the Compliance API is configured; set it and COMPLIANCE_API_KEY, or name a file with ${CONFIG_FILE_VARIABLE}`;
    problems.push({ path: "COMPLIANCE_BASE_URL", message });
  }
  if (needs.includes("accounting") && accounting.length === 0) {
    const message = `no connection to the accounting service is configured; set it and ACCOUNTING_API_KEY, or name a file with ${CONFIG_FILE_VARIABLE}`;
    problems.push({ path: "ACCOUNTING_BASE_URL", message });
  }
  if (needs.includes("callbacks") && !wantsCallbacks(callbacks)) {
    problems.push({ path: "CALLBACK_PUBLIC_URL", message: "no callbacks are configured; set it and CALLBACK_SECRETS" });
  }
  problems.push(...checkVariables(env, knownVariables, referredVariables));
  if (problems.length > 0) throw new ConfigError(problems);

  const rulesBetween = () => [...checkComplianceConnections(compliance), ...checkAccountingConnections(accounting)];
  const { url, ownerUrl, home } = valuesOf(ledger);
  return {
    /** Secrets of the connections and of callbacks that were read from files, which may change. */
    secretFiles: [
      ...compliance.flatMap((reading) => secretFilesOf(reading, rulesBetween)),
      ...accounting.flatMap((reading) => secretFilesOf(reading, rulesBetween)),
      ...secretFilesOf(callbacks, rulesBetween),
    ],
    compliance: compliance.map(assembleCompliance),
    accounting: accounting.map(assembleAccounting),
    /** Undefined: no callback URLs are sent, and polling alone finishes every sale. */
    callbacks: callbackReceiver(callbacks),
    timings: valuesOf(timings),
    /** Without `url`, an embedded PostgreSQL in `home`, which is absolute. */
    ledger: { url, ownerUrl, home: resolve(workingDirectory, home) },
    temporal: valuesOf(temporal),
    /** What a worker process carries at once. */
    worker: valuesOf(worker),
    ...valuesOf(running),
  };
}

/** The receiver of callbacks, whose public URL has no slash at its end. */
function callbackReceiver(reading: SettingsReading<typeof callbackSettings>) {
  const { publicUrl, secrets, ...rest } = valuesOf(reading);
  return publicUrl && secrets && { publicUrl: addressOf(publicUrl), secrets, ...rest };
}

/**
 * The top-level object of the configuration file; empty where there is none, or where it cannot be read (a problem then
 * says so).
 */
function readConfigFile(
  path: string | undefined,
  given: string | undefined,
  readFile: (path: string) => string,
  problems: ConfigProblem[],
): Readonly<Record<string, unknown>> {
  const name = path === undefined ? "the configuration file" : showFound(path);
  let text = given;
  if (text === undefined) {
    if (path === undefined) return {};
    try {
      text = readFile(path);
    } catch (error) {
      const message = `expected the path of a JSON file, found ${name}, which cannot be read (${reasonOf(error)})`;
      problems.push({ path: CONFIG_FILE_VARIABLE, message });
      return {};
    }
  }
  const json = parseJsonc(text);
  if (json.ok) return asObject(json.value, "", problems) ?? {};
  const { line, column, message } = json.problem;
  problems.push({
    path: CONFIG_FILE_VARIABLE,
    message: `${name} is not JSON; at line ${line}, column ${column}: ${message}`,
  });
  return {};
}

function readUtf8(path: string): string {
  return readFileSync(path, "utf8");
}
