import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";

import { DEFAULT_CONNECTION, NAME_PATTERN } from "../contract/names.ts";
import { payloadKeyId } from "../payloads/keys.ts";
import { ConfigError, type ConfigProblem, nearMiss, showFound, unknownName } from "./config-error.ts";
import { assembleAccounting, assembleCompliance, checkConnections } from "./connections.ts";
import { type ReadFile, Secret, SecretFiles } from "./secrets.ts";
import {
  addressOf,
  type Environment,
  jsonOfFile,
  plaintextProblem,
  publicUrlProblem,
  Refusal,
  type SettingsReading,
  type SettingTable,
  type Source,
  valuesOf,
  variableOf,
} from "./setting-kinds.ts";
import {
  accountingSettings,
  callbackSettings,
  codecSettings,
  complianceSettings,
  configSections,
  ledgerSettings,
  ledgerWithoutLogins,
  payloadSettings,
  processSettings,
  timingSettings,
  workerSettings,
} from "./settings.ts";

const CONFIG_FILE_VARIABLE = "FISCALFLOW_CONFIG";

/** The whole configuration of a process of the product, checked. */
export type Config = ReturnType<typeof loadConfig>;

export interface LoadConfigOptions {
  env: Environment;
  /** Reads the configuration file, secrets and dialects; throws where it cannot. Default: from disk, as UTF-8. */
  readFile?: ReadFile;
  /** Parts without which the caller cannot do its work: their absence is a problem too. */
  needs?: readonly (keyof typeof NEEDED)[];
  /** False: the ledger's logins are not read, so that the process need not be given them. Default: true. */
  usesLedger?: boolean;
}

const NEEDED = {
  compliance: {
    path: "COMPLIANCE_BASE_URL",
    message: `no connection to the Compliance API is configured; set it and COMPLIANCE_API_KEY, or name a file with ${CONFIG_FILE_VARIABLE}`,
  },
  callbacks: { path: "CALLBACK_PUBLIC_URL", message: "no callbacks are configured; set it and CALLBACK_SECRETS" },
  codec: {
    path: "FISCALFLOW_CODEC_TOKEN",
    message: "no codec server is configured; set it and FISCALFLOW_PAYLOAD_KEYS",
  },
} as const satisfies Record<string, ConfigProblem>;

/**
 * Reads and checks the whole configuration: variables first, then the file. Connects to nothing.
 * @throws ConfigError with every problem that there is
 */
export function loadConfig(options: LoadConfigOptions) {
  const { env, needs = [], usesLedger = true } = options;
  const { readFile = (path: string) => readFileSync(path, "utf8") } = options;
  const reader = new SettingsReader(env, readFile);
  const { problems } = reader;

  const compliance = reader.connections(complianceSettings, "compliance");
  const accounting = reader.connections(accountingSettings, "accounting");
  problems.push(...checkConnections(compliance, accounting, { receives: needs.includes("callbacks") }));
  const callbacks = reader.section(callbackSettings, "callbacks");
  problems.push(...callbackProblems(callbacks));
  const timings = reader.section(timingSettings, "timings");
  problems.push(...timingProblems(timings));
  const ledger = reader.section(usesLedger ? ledgerSettings : ledgerWithoutLogins, "ledger");
  problems.push(...ledgerProblems(ledger));
  const payloads = reader.section(payloadSettings, "payloads");
  const codec = reader.section(codecSettings, "codec");
  problems.push(...payloadProblems(payloads), ...(needs.includes("codec") ? codecProblems(codec, payloads) : []));
  const worker = reader.section(workerSettings, "worker");
  const running = reader.section(processSettings, "");
  const isThere = {
    compliance: compliance.length > 0,
    callbacks: wantsCallbacks(callbacks),
    codec: codec.given.has("token"),
  };
  problems.push(...needs.filter((need) => !isThere[need]).map((need) => NEEDED[need]));
  const unread = unreadVariables(env, reader.referredVariables);
  problems.push(...unread.problems);
  if (problems.length > 0) throw new ConfigError(problems);

  const { home, ...ledgerServer } = valuesOf(ledger);
  const { publicUrl, secrets, ...receiver } = valuesOf(callbacks);
  const { token, ...codecServer } = valuesOf(codec);
  return {
    /** Those of the connections, of callbacks and of the codec server, which may change. */
    secretFiles: new SecretFiles(
      [...compliance, ...accounting, callbacks, codec].flatMap((reading) => secretFilesOf(reading)),
      reader.texts,
      readFile,
      (otherwise): SecretFiles => loadConfig({ ...options, readFile: otherwise }).secretFiles,
    ),
    compliance: compliance.map(assembleCompliance),
    accounting: accounting.map(assembleAccounting),
    /** The public URL has no slash at its end. Undefined: no callback URLs are sent, and polling alone finishes every sale. */
    callbacks: publicUrl && secrets && { publicUrl: addressOf(publicUrl), secrets, ...receiver },
    timings: valuesOf(timings),
    /** Without `url`, an embedded PostgreSQL in `home`, which is absolute; or a process that does not use the ledger. */
    ledger: { ...ledgerServer, home: resolve(home) },
    /** Of which the first encrypts. Empty: payloads are plain. */
    payloadKeys: valuesOf(payloads).keys,
    /** Undefined: nobody but those who have the keys reads what is encrypted. */
    codec: token && { token, ...codecServer },
    /** What a worker process carries at once. */
    worker: valuesOf(worker),
    ...valuesOf(running),
    /** Variables that begin like those of the product and that it does not know: perhaps another program's. */
    unknownVariables: unread.unknown,
  };
}

type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Reads every setting of a table: the variable where it is set, else the file, else the default. Each problem is
 * noted and leaves its setting undefined, so that the others are still looked at.
 */
class SettingsReader {
  readonly problems: ConfigProblem[] = [];
  readonly referredVariables = new Set<string>();
  /** What each file held that was read, by its absolute path. */
  readonly texts = new Map<string, string>();
  readonly #ofVariables: Source;
  readonly #ofFile: Source;
  readonly #file: JsonObject;

  constructor(env: Environment, readFile: ReadFile) {
    const path = variableOf(env, CONFIG_FILE_VARIABLE);
    const source = (isVariable: boolean, folder: string): Source => ({
      isVariable,
      env,
      pathOf: (name) => resolve(folder, name),
      readFile: (name) => {
        const text = readFile(name);
        this.texts.set(name, text);
        return text;
      },
      refersTo: (variable) => void this.referredVariables.add(variable),
    });
    this.#ofVariables = source(true, "");
    this.#ofFile = source(false, dirname(path ?? ""));
    this.#file = this.#configFile(path);
  }

  /** Empty where there is none, or where it cannot be read, which is a problem then. */
  #configFile(path: string | undefined): JsonObject {
    if (path === undefined) return {};
    try {
      return this.#objectAt("the file", jsonOfFile(path, this.#ofVariables, "the path of a JSON file")) ?? {};
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.problems.push({ path: CONFIG_FILE_VARIABLE, message: error.message });
      return {};
    }
  }

  /** @param path in the file; empty for the file itself */
  section<S extends SettingTable>(table: S, path: string): SettingsReading<S> {
    return this.#read(table, path === "" ? this.#file : this.#file[path], path, true);
  }

  /** Of each connection that is named. The variables describe the one called `default`. */
  connections<S extends SettingTable>(table: S, path: string): (SettingsReading<S> & { name: string })[] {
    const named = this.#objectAt(path, this.#file[path]) ?? {};
    const byVariables = Object.values(table).some((schema) => this.#variable(schema) !== undefined);
    const names = new Set([...(byVariables ? [DEFAULT_CONNECTION] : []), ...Object.keys(named)]);
    return [...names].map((name) => {
      if (!NAME_PATTERN.test(name)) {
        const message = `expected a connection's name of 1 to 32 characters from a-z, 0-9 and -, found ${showFound(name)}`;
        this.problems.push({ path, message });
      }
      return { name, ...this.#read(table, named[name], `${path}.${name}`, name === DEFAULT_CONNECTION) };
    });
  }

  #variable(schema: SettingTable[string] | undefined): string | undefined {
    return variableOf(this.#ofVariables.env, schema?.meta()?.variable ?? "");
  }

  #read<S extends SettingTable>(table: S, part: unknown, path: string, useVariables: boolean): SettingsReading<S> {
    const place = path || "the file";
    const file = this.#objectAt(place, part);
    const known = [...Object.keys(table), ...(path === "" ? configSections.map((one) => one.path) : [])];
    for (const key of Object.keys(file ?? {}))
      if (!known.includes(key)) this.problems.push({ path: place, message: unknownName("key", key, known) });
    const textOf = (key: string): string | undefined => (useVariables ? this.#variable(table[key]) : undefined);
    const where = (key: string): string => {
      const isInFile = textOf(key) === undefined && Object.keys(file ?? {}).length > 0;
      const variable = useVariables && !isInFile ? table[key]?.meta()?.variable : undefined;
      return variable ?? (path === "" ? key : `${path}.${key}`);
    };
    const values: Record<string, unknown> = {};
    const given = new Set<string>();
    for (const [key, schema] of Object.entries(table)) {
      const text = textOf(key);
      const raw = text ?? file?.[key];
      const source = text === undefined ? this.#ofFile : this.#ofVariables;
      if (raw !== undefined) given.add(key);
      const { value, messages } = readSetting(schema, raw, source);
      values[key] = value;
      // A section that is no object has its problem already.
      if (raw !== undefined || file !== undefined)
        this.problems.push(...messages.map((message) => ({ path: where(key), message })));
    }
    return { values: values as SettingsReading<S>["values"], given, where };
  }

  /** The object at a path of the file; undefined, with a problem, where something else stands there. */
  #objectAt(path: string, raw: unknown = {}): JsonObject | undefined {
    if (typeof raw === "object" && raw !== null && !Array.isArray(raw)) return { ...raw };
    this.problems.push({ path, message: `expected an object, found ${showFound(raw)}` });
    return undefined;
  }
}

/** @returns the value, or what is wrong with it, each with the place inside of the value */
function readSetting(
  schema: SettingTable[string],
  raw: unknown,
  source: Source,
): { value?: unknown; messages: readonly string[] } {
  const { resolve: resolved = (found: unknown) => found, description } = schema.meta() ?? {};
  try {
    const reading = schema.safeParse(raw === undefined ? undefined : resolved(raw, source));
    if (reading.success) return { value: reading.data, messages: [] };
    if (raw === undefined) return { messages: [`is missing; expected ${description}`] };
    const messages = reading.error.issues.map(({ path, message }) => {
      const place = path.map((key) => (typeof key === "number" ? `entry ${key + 1}` : String(key))).join(".");
      return place === "" ? message : `${place}: ${message}`;
    });
    return { messages: [...new Set(messages)] };
  } catch (error) {
    if (error instanceof Refusal) return { messages: [error.message] };
    throw error;
  }
}

function secretFilesOf({ values, where }: SettingsReading<SettingTable>): SecretFiles["all"] {
  return Object.entries(values).flatMap(([key, value]) =>
    [value].flat().flatMap((secret: unknown, index) => {
      if (!(secret instanceof Secret) || secret.path === undefined) return [];
      return [{ name: Array.isArray(value) ? `${where(key)}.${index + 1}` : where(key), secret, path: secret.path }];
    }),
  );
}

/** Whether somebody wants callbacks: a port alone does not switch them on. */
function wantsCallbacks({ given }: SettingsReading<typeof callbackSettings>): boolean {
  return given.has("publicUrl") || given.has("secrets");
}

function callbackProblems(reading: SettingsReading<typeof callbackSettings>): ConfigProblem[] {
  const { values, given, where } = reading;
  if (!wantsCallbacks(reading)) return [];
  const missing = (["publicUrl", "secrets"] as const)
    .filter((key) => !given.has(key))
    .map((key) => ({ path: where(key), message: "is missing; callbacks need a public URL and at least one secret" }));
  const message = values.publicUrl && publicUrlProblem(values.publicUrl, values.allowLoopback === true);
  return message === undefined ? missing : [...missing, { path: where("publicUrl"), message }];
}

function ledgerProblems({ values, where }: SettingsReading<typeof ledgerSettings>): ConfigProblem[] {
  if (values.ownerUrl !== undefined && values.url === undefined)
    return [{ path: where("ownerUrl"), message: "expected LEDGER_URL beside it, with the login of the workers" }];
  if (values.allowPlaintext === true) return [];
  return (["url", "ownerUrl"] as const).flatMap((name) => {
    const given = values[name];
    const message = given && plaintextProblem(given.reveal());
    return message === undefined ? [] : [{ path: where(name), message }];
  });
}

/** Settings of which one would have no effect, or another one than it says. */
function timingProblems({ values, where }: SettingsReading<typeof timingSettings>): ConfigProblem[] {
  const noMore = (key: "firstPollMs" | "longestPollMs", most: "longestPollMs" | "longestPollAfterDayMs") => {
    const [value, bound] = [values[key], values[most]];
    if (value === undefined || bound === undefined || value <= bound) return [];
    return [{ path: where(key), message: `expected at most that of ${where(most)}, ${bound}; found ${value}` }];
  };
  const { resubmissions = 0, resubmissionWindowMs } = values;
  const message = `expected more than 0 for ${resubmissions} resubmissions; ${where("resubmissions")} of 0 ends them`;
  const noTime = resubmissions > 0 && resubmissionWindowMs === 0;
  return [
    ...noMore("firstPollMs", "longestPollMs"),
    ...noMore("longestPollMs", "longestPollAfterDayMs"),
    ...(noTime ? [{ path: where("resubmissionWindowMs"), message }] : []),
  ];
}

function payloadProblems({ values: { keys = [] }, where }: SettingsReading<typeof payloadSettings>): ConfigProblem[] {
  const ids = keys.map((key) => payloadKeyId(key.reveal()));
  const twice = ids.find((id, index) => ids.indexOf(id) < index);
  if (twice === undefined) return [];
  return [{ path: where("keys"), message: `expected an id of its own for each key, found "${twice}" twice` }];
}

/** Of the server alone: those who ask it have the token, and not the keys. */
function codecProblems(
  { given, where }: SettingsReading<typeof codecSettings>,
  payloads: SettingsReading<typeof payloadSettings>,
): ConfigProblem[] {
  if (payloads.given.has("keys") || !given.has("token")) return [];
  return [
    { path: where("token"), message: "expected FISCALFLOW_PAYLOAD_KEYS beside it, which the server decrypts by" },
  ];
}

/** Nothing but this product's timings begins like this. */
const OURS_ALONE = "FISCALFLOW_TIMING_";
/** Other programs may have variables that begin like these, so that only a likely slip is refused. */
const SHARED = /^(COMPLIANCE|ACCOUNTING|CALLBACK|FISCALFLOW|LEDGER)_/;
/** What Kubernetes and Docker set for a service of that name, and what `docker-compose.yml` and the embedded servers read. */
const NOT_SETTINGS =
  /_SERVICE_(HOST|PORT)(_|$)|_PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?$|^CALLBACK_BIND$|^FISCALFLOW_(CACHE|ENV_FILE|SECRETS|VERSION)$/;

const KNOWN_VARIABLES: readonly string[] = [
  CONFIG_FILE_VARIABLE,
  ...configSections.flatMap(({ settings }) => Object.values(settings).map((schema) => schema.meta()?.variable ?? "")),
];

/** Variables that are set, that nothing reads, and that may have been meant for the product. */
function unreadVariables(
  env: Environment,
  referred: ReadonlySet<string>,
): { problems: ConfigProblem[]; unknown: string[] } {
  const unread = Object.keys(env).filter(
    (name) => env[name] && SHARED.test(name) && !KNOWN_VARIABLES.includes(name) && !referred.has(name),
  );
  const problems = unread.flatMap((path): ConfigProblem[] => {
    const meant = nearMiss(path, KNOWN_VARIABLES);
    if (meant !== undefined) {
      const message = `is not known; did you mean ${meant}? (A variable that the file refers to may have any name.)`;
      return [{ path, message }];
    }
    return path.startsWith(OURS_ALONE) ? [{ path, message: "is not known, so it would change nothing" }] : [];
  });
  return { problems, unknown: unread.filter((name) => !NOT_SETTINGS.test(name)) };
}
