import type { ConfigProblem } from "./config-error.ts";
import { nearMiss } from "./near-miss.ts";
import { showFound } from "./show-found.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** What a setting may look at while it is read. */
export interface Sources {
  env: Environment;
  /** Reads what a variable names; throws where it cannot. Relative paths start in the working directory. */
  readFile: (path: string) => string;
  /** Reads what the configuration file names: relative paths start in its folder. */
  readFileOfFile: (path: string) => string;
  /** The absolute path of what the configuration file names. */
  pathOfFile: (path: string) => string;
  /** Variables that the file refers to: they are meant, whatever they are called. */
  referredVariables: Set<string>;
}

export type Reading<T> = { ok: true; value: T } | { ok: false; problems: string[] };

/** One thing that can be configured. The tables of settings are also what the documentation is printed from. */
export interface Setting<T> {
  /** Of connections, the one that is called `default`. */
  variable?: string;
  meaning: string;
  /** How a variable says what JSON says otherwise. */
  variableNote?: string;
  required?: boolean;
  fallback?: T;
  /** How the default reads in documentation, where it is not the fallback as it stands. */
  defaultText?: string;
  /** What the example shows where there is no fallback. */
  example?: unknown;
  /** Needed beside others that would do as well: the example has it, and not as a comment. */
  inExample?: boolean;
  /** From the JSON file. */
  fromJson: (raw: unknown, sources: Sources) => Reading<T>;
  /** From an environment variable; never called with an empty text. */
  fromText: (text: string, sources: Sources) => Reading<T>;
}

export type SettingTable = Readonly<Record<string, Setting<unknown>>>;

export type SettingValues<S extends SettingTable> = {
  [K in keyof S]: (S[K] extends Setting<infer T> ? T : never) | undefined;
};

export interface SettingsInput {
  /** The object of the JSON file, where there is one. */
  file: unknown;
  /** Its path in the file; empty for the file itself. */
  filePath: string;
  /** Other keys of the same object, read by someone else. */
  otherKeys?: readonly string[];
  /** Whether the variables apply: for a connection, only to the one called `default`. */
  useVariables: boolean;
  sources: Sources;
  problems: ConfigProblem[];
}

export interface SettingsResult<S extends SettingTable> {
  values: SettingValues<S>;
  /** Settings that someone set, well or not. */
  given: ReadonlySet<string>;
  /** Where a setting was given, or would have been: for problems that need more than one. */
  where: (key: keyof S & string) => string;
}

/**
 * Reads every setting of a table: the variable where it is set, else the file, else the default. Each problem is
 * added to `problems` and leaves its setting undefined, so that the others are still looked at.
 */
export function readSettings<S extends SettingTable>(table: S, input: SettingsInput): SettingsResult<S> {
  const file = input.file === undefined ? {} : asObject(input.file, input.filePath, input.problems);
  if (file !== undefined) {
    refuseUnknownKeys(file, [...Object.keys(table), ...(input.otherKeys ?? [])], input.filePath, input.problems);
  }
  const where = (key: string): string => {
    const setting = table[key];
    const inFile = joinPath(input.filePath, key);
    if (!input.useVariables || setting?.variable === undefined) return inFile;
    const fromFile = textOf(setting, input) === undefined && file !== undefined && Object.keys(file).length > 0;
    return fromFile ? inFile : setting.variable;
  };
  const values: Record<string, unknown> = {};
  const given = new Set<string>();
  for (const [key, setting] of Object.entries(table)) {
    const text = input.useVariables ? textOf(setting, input) : undefined;
    const raw = file?.[key];
    if (text === undefined && raw === undefined) {
      values[key] = setting.fallback;
      if (setting.required === true && file !== undefined) {
        input.problems.push({ path: where(key), message: `is missing; expected ${setting.meaning}` });
      }
      continue;
    }
    given.add(key);
    const reading = text === undefined ? setting.fromJson(raw, input.sources) : setting.fromText(text, input.sources);
    if (reading.ok) values[key] = reading.value;
    else for (const message of reading.problems) input.problems.push({ path: where(key), message });
  }
  return { values: values as SettingValues<S>, given, where };
}

/** A variable's text; undefined for an empty one too, which is what a compose file makes of one that is not set. */
export function variableOf(env: Environment, name: string): string | undefined {
  // The environment is an object like others: it has a `toString`.
  return Object.hasOwn(env, name) ? env[name] || undefined : undefined;
}

/** The object at a path of the file; undefined, with a problem, where something else stands there. */
export function asObject(
  raw: unknown,
  path: string,
  problems: ConfigProblem[],
): Readonly<Record<string, unknown>> | undefined {
  if (typeof raw === "object" && raw !== null && !Array.isArray(raw)) return Object.fromEntries(Object.entries(raw));
  problems.push({ path: path || "the file", message: `expected an object, found ${showFound(raw)}` });
  return undefined;
}

export function joinPath(path: string, key: string): string {
  return path === "" ? key : `${path}.${key}`;
}

function textOf(setting: Setting<unknown>, input: SettingsInput): string | undefined {
  return setting.variable === undefined ? undefined : variableOf(input.sources.env, setting.variable);
}

function refuseUnknownKeys(
  file: Readonly<Record<string, unknown>>,
  known: readonly string[],
  path: string,
  problems: ConfigProblem[],
): void {
  for (const key of Object.keys(file)) {
    if (known.includes(key)) continue;
    const meant = nearMiss(key, known);
    const hint = meant === undefined ? `known here: ${known.join(", ")}` : `did you mean "${meant}"?`;
    problems.push({ path: path || "the file", message: `has an unknown key ${showFound(key)}; ${hint}` });
  }
}
