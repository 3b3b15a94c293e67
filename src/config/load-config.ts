import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";

import { longestCallbackUrl, MAX_CALLBACK_URL_LENGTH } from "../callbacks/callback-token.ts";
import { DEFAULT_CONNECTION, NAME_PATTERN } from "../contract/names.ts";
import { ConfigError, type ConfigProblem, nearMiss, showFound, unknownName } from "./config-error.ts";
import { assembleAccounting, assembleCompliance, checkConnections, valuesOf } from "./connections.ts";
import { secretFilesOf } from "./secrets.ts";
import {
  type Environment,
  formOf,
  jsonOf,
  jsonOfFile,
  problemsOf,
  Refusal,
  type SettingsReading,
  type SettingTable,
  type Sources,
  variableOf,
} from "./setting-kinds.ts";
import {
  accountingSettings,
  callbackSettings,
  complianceSettings,
  configSections,
  ledgerSettings,
  processSettings,
  temporalSettings,
  type Timings,
  timingSettings,
  workerSettings,
} from "./settings.ts";
import { addressOf, plaintextProblem, publicUrlProblem } from "./urls.ts";

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
  needs?: readonly (keyof typeof NEEDED)[];
  /**
   * The clients' check of a dialect: a message for each problem. They are given which settings its connection
   * has too. Without, dialects are not looked into.
   */
  dialectProblems?: { compliance?: DialectProblems; accounting?: DialectProblems };
}

const NEEDED = {
  compliance: {
    path: "COMPLIANCE_BASE_URL",
    message: `no connection to the Compliance API is configured; set it and COMPLIANCE_API_KEY, or name a file with ${CONFIG_FILE_VARIABLE}`,
  },
  accounting: {
    path: "ACCOUNTING_BASE_URL",
    message: `no connection to the accounting service is configured; set it and ACCOUNTING_API_KEY, or name a file with ${CONFIG_FILE_VARIABLE}`,
  },
  callbacks: { path: "CALLBACK_PUBLIC_URL", message: "no callbacks are configured; set it and CALLBACK_SECRETS" },
} as const satisfies Record<string, ConfigProblem>;

/**
 * Reads and checks the whole configuration: variables first, then the file. Connects to nothing.
 * @throws ConfigError with every problem that there is
 */
export function loadConfig(options: LoadConfigOptions) {
  const { env, workingDirectory = process.cwd(), needs = [], dialectProblems = {} } = options;
  const { readFile = (path: string) => readFileSync(path, "utf8") } = options;
  const problems: ConfigProblem[] = [];
  const path = variableOf(env, CONFIG_FILE_VARIABLE);
  const folderOfFile = path === undefined ? workingDirectory : dirname(resolve(workingDirectory, path));
  const referredVariables = new Set<string>();
  const sources: Sources = {
    env,
    readFile: (name) => readFile(resolve(workingDirectory, name)),
    readFileOfFile: (name) => readFile(resolve(folderOfFile, name)),
    pathOfFile: (name) => resolve(folderOfFile, name),
    refersTo: (variable) => void referredVariables.add(variable),
  };
  const file = configFile(path, options.configFileText, sources, problems);

  function section<S extends SettingTable>(
    table: S,
    key: string,
    check: (reading: SettingsReading<S>) => ConfigProblem[] = () => [],
  ): SettingsReading<S> {
    const reading = readSettings(table, { raw: file[key], path: key, useVariables: true }, sources, problems);
    problems.push(...check(reading));
    return reading;
  }

  function connections<S extends SettingTable>(table: S, key: string): (SettingsReading<S> & { name: string })[] {
    const named = file[key] === undefined ? {} : (asObject(file[key], key, problems) ?? {});
    const byVariables = Object.values(table).some((schema) => variableOf(env, schema.meta()?.variable ?? ""));
    const names = new Set([...(byVariables ? [DEFAULT_CONNECTION] : []), ...Object.keys(named)]);
    return [...names].map((name) => {
      if (!NAME_PATTERN.test(name)) {
        const message = `expected a connection's name of 1 to 32 characters from a-z, 0-9 and -, found ${showFound(name)}`;
        problems.push({ path: key, message });
      }
      const part = { raw: named[name], path: `${key}.${name}`, useVariables: name === DEFAULT_CONNECTION };
      return { name, ...readSettings(table, part, sources, problems) };
    });
  }

  const compliance = connections(complianceSettings, "compliance");
  const accounting = connections(accountingSettings, "accounting");
  const rulesBetween = () => checkConnections(compliance, accounting);
  problems.push(...rulesBetween());
  for (const [readings, check] of [
    [compliance, dialectProblems.compliance],
    [accounting, dialectProblems.accounting],
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
  const running = readSettings(
    processSettings,
    { raw: file, path: "", otherKeys, useVariables: true },
    sources,
    problems,
  );
  const isThere = {
    compliance: compliance.length > 0,
    accounting: accounting.length > 0,
    callbacks: wantsCallbacks(callbacks),
  };
  problems.push(...needs.filter((need) => !isThere[need]).map((need) => NEEDED[need]));
  problems.push(...checkVariables(env, referredVariables));
  if (problems.length > 0) throw new ConfigError(problems);

  const { url, ownerUrl, home } = valuesOf(ledger);
  const { publicUrl, secrets, ...receiver } = valuesOf(callbacks);
  return {
    /** Secrets of the connections and of callbacks that were read from files, which may change. */
    secretFiles: [
      ...compliance.flatMap((reading) => secretFilesOf(reading, rulesBetween)),
      ...accounting.flatMap((reading) => secretFilesOf(reading, rulesBetween)),
      ...secretFilesOf(callbacks, rulesBetween),
    ],
    compliance: compliance.map(assembleCompliance),
    accounting: accounting.map(assembleAccounting),
    /** The public URL has no slash at its end. Undefined: no callback URLs are sent, and polling alone finishes every sale. */
    callbacks: publicUrl && secrets && { publicUrl: addressOf(publicUrl), secrets, ...receiver },
    timings: valuesOf(timings),
    /** Without `url`, an embedded PostgreSQL in `home`, which is absolute. */
    ledger: { url, ownerUrl, home: resolve(workingDirectory, home) },
    temporal: valuesOf(temporal),
    /** What a worker process carries at once. */
    worker: valuesOf(worker),
    ...valuesOf(running),
  };
}

/** The object of the configuration file; empty where there is none, or where it cannot be read (a problem then says so). */
function configFile(
  path: string | undefined,
  text: string | undefined,
  { readFile }: Sources,
  problems: ConfigProblem[],
): Readonly<Record<string, unknown>> {
  if (text === undefined && path === undefined) return {};
  const json =
    text === undefined
      ? jsonOfFile(path ?? "", readFile, "the path of a JSON file")
      : jsonOf(text, path === undefined ? "the configuration file" : showFound(path));
  if (!(json instanceof Refusal)) return asObject(json, "the file", problems) ?? {};
  problems.push({ path: CONFIG_FILE_VARIABLE, message: json.message });
  return {};
}

interface Part {
  /** The object of the JSON file, where there is one. */
  raw: unknown;
  /** Its path in the file; empty for the file itself. */
  path: string;
  /** Other keys of the same object, read by someone else. */
  otherKeys?: readonly string[];
  /** Whether the variables apply: for a connection, only to the one called `default`. */
  useVariables: boolean;
}

/**
 * Reads every setting of a table: the variable where it is set, else the file, else the default. Each problem is
 * added to `problems` and leaves its setting undefined, so that the others are still looked at.
 */
function readSettings<S extends SettingTable>(
  table: S,
  { raw: rawPart, path, otherKeys = [], useVariables }: Part,
  sources: Sources,
  problems: ConfigProblem[],
): SettingsReading<S> {
  const place = path || "the file";
  const file = rawPart === undefined ? {} : asObject(rawPart, place, problems);
  const known = [...Object.keys(table), ...otherKeys];
  for (const key of Object.keys(file ?? {}))
    if (!known.includes(key)) problems.push({ path: place, message: unknownName("key", key, known) });
  const variableFor = (key: string): string | undefined => (useVariables ? table[key]?.meta()?.variable : undefined);
  const textFor = (key: string): string | undefined => variableOf(sources.env, variableFor(key) ?? "");
  const where = (key: string): string => {
    const isInFile = textFor(key) === undefined && Object.keys(file ?? {}).length > 0;
    return (isInFile ? undefined : variableFor(key)) ?? (path === "" ? key : `${path}.${key}`);
  };
  const values: Record<string, unknown> = {};
  const given = new Set<string>();
  for (const [key, schema] of Object.entries(table)) {
    const { fromText, fromFile } = formOf(schema);
    const text = textFor(key);
    const raw = file?.[key];
    const absent = text === undefined && raw === undefined;
    if (!absent) given.add(key);
    const value = text !== undefined ? fromText(text, sources) : absent ? undefined : fromFile(raw, sources);
    const reading = schema.safeParse(value);
    if (reading.success) values[key] = reading.data;
    else if (!absent) problems.push(...problemsOf(reading.error).map((message) => ({ path: where(key), message })));
    // A section that is no object has its problem already.
    else if (file !== undefined)
      problems.push({ path: where(key), message: `is missing; expected ${schema.meta()?.description}` });
  }
  return { values: values as SettingsReading<S>["values"], given, where };
}

/** The object at a path of the file; undefined, with a problem, where something else stands there. */
function asObject(
  raw: unknown,
  path: string,
  problems: ConfigProblem[],
): Readonly<Record<string, unknown>> | undefined {
  if (typeof raw === "object" && raw !== null && !Array.isArray(raw)) return { ...raw };
  problems.push({ path, message: `expected an object, found ${showFound(raw)}` });
  return undefined;
}

/** Whether somebody wants callbacks: a port alone does not switch them on. */
function wantsCallbacks({ given }: SettingsReading<typeof callbackSettings>): boolean {
  return given.has("publicUrl") || given.has("secrets");
}

function checkCallbacks(reading: SettingsReading<typeof callbackSettings>): ConfigProblem[] {
  const { values, given, where } = reading;
  const { publicUrl, allowLoopback = false } = values;
  if (!wantsCallbacks(reading)) return [];
  const problems: ConfigProblem[] = [];
  if (!given.has("publicUrl"))
    problems.push({ path: where("publicUrl"), message: "is missing; callbacks need it besides the secrets" });
  if (!given.has("secrets")) {
    const message = "is missing; callbacks need at least one secret besides the public URL";
    problems.push({ path: where("secrets"), message });
  }
  const message = publicUrl && (publicUrlProblem(publicUrl, allowLoopback) ?? lengthProblem(addressOf(publicUrl)));
  if (message !== undefined) problems.push({ path: where("publicUrl"), message });
  return problems;
}

function lengthProblem(publicUrl: string): string | undefined {
  const excess = longestCallbackUrl(publicUrl).length - MAX_CALLBACK_URL_LENGTH;
  if (excess <= 0) return undefined;
  return `expected at most ${publicUrl.length - excess} characters, so that every callback URL stays within the API's ${MAX_CALLBACK_URL_LENGTH}; found ${publicUrl.length}`;
}

function checkLedger({ values, where }: SettingsReading<typeof ledgerSettings>): ConfigProblem[] {
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
function checkWorker({ values, where }: SettingsReading<typeof workerSettings>): ConfigProblem[] {
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

function checkTimings({ values, where }: SettingsReading<typeof timingSettings>): ConfigProblem[] {
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

const KNOWN_VARIABLES: readonly string[] = [
  CONFIG_FILE_VARIABLE,
  ...configSections.flatMap(({ settings }) => Object.values(settings).map((schema) => schema.meta()?.variable ?? "")),
];

/** Variables that are set, that nothing reads, and that were probably meant for the product. */
function checkVariables(env: Environment, referred: ReadonlySet<string>): ConfigProblem[] {
  return Object.keys(env).flatMap((name) => {
    if (!env[name] || KNOWN_VARIABLES.includes(name) || referred.has(name) || !SHARED.test(name)) return [];
    const meant = nearMiss(name, KNOWN_VARIABLES);
    if (meant !== undefined) {
      const message = `is not known; did you mean ${meant}? (A variable that the file refers to may have any name.)`;
      return [{ path: name, message }];
    }
    return name.startsWith(OURS_ALONE) ? [{ path: name, message: "is not known, so it would change nothing" }] : [];
  });
}
