import { z } from "zod";

import { durationMs } from "../contract/schema/parse-input.ts";
import { reasonOf, showFound, unknownName } from "./config-error.ts";
import { parseJsonc } from "./parse-jsonc.ts";

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
  /** Told of each variable that the file refers to: it is meant, whatever it is called. */
  refersTo: (variable: string) => void;
}

/** How a variable and the file say a value, where its schema does not take it as it stands there. */
export interface Form {
  /** How the documentation tells of a variable that says what JSON says otherwise. */
  note?: string;
  /** Never called with an empty text. What cannot be understood goes on as it is, for the schema to refuse. */
  fromText: (text: string, sources: Sources) => unknown;
  fromFile?: (raw: unknown, sources: Sources) => unknown;
}

declare module "zod" {
  /** What a setting's schema carries besides its rules; its `description` says what it means. */
  interface GlobalMeta {
    form?: Form;
    /** Of connections, the one that is called `default`. */
    variable?: string;
    /** How the default reads in documentation, where it is not the schema's as it stands. */
    defaultText?: string;
    /** What the example shows where there is no default. */
    example?: unknown;
    /** Needed beside others that would do as well: the example has it, and not as a comment. */
    inExample?: boolean;
  }
}

/** The settings of one section of the file, by key. The tables are also what the documentation is printed from. */
export type SettingTable = Readonly<Record<string, z.ZodType>>;

export type SettingValues<S extends SettingTable> = { [K in keyof S]: z.output<S[K]> };

/** Each with its variable: its key in capitals behind the prefix, unless it names another. */
export function settings<S extends SettingTable>(prefix: string, table: S): S {
  const named = Object.entries(table).map(([key, schema]) => {
    const variable = prefix + key.replaceAll(/[A-Z]/g, "_$&").toUpperCase();
    return [key, schema.meta({ variable, ...schema.meta() })];
  });
  return Object.fromEntries(named) as S;
}

/** What was read of a section, whole or not: rules between settings look at those that there are. */
export interface SettingsReading<S extends SettingTable> {
  /** Undefined where a setting has a problem too. */
  values: Partial<SettingValues<S>>;
  /** Settings that someone set, well or not. */
  given: ReadonlySet<string>;
  /** Where a setting was given, or would have been: for problems that need more than one. */
  where: (key: keyof S & string) => string;
}

/** Takes the place of a value that cannot be had: its schema says why. */
export class Refusal {
  readonly message: string;
  constructor(message: string) {
    this.message = message;
  }
}

/** Kubernetes sets NAME_PORT=tcp://… in every pod for a Service called NAME. */
const SERVICE_LINK = /^tcp:\/\//;
const SERVICE_LINK_HINT =
  ". Kubernetes sets this for a Service of that name: set enableServiceLinks to false, or rename the Service";

/** What a schema says of everything that it refuses. `what` completes the sentence "expected …". */
export function expected(what: string) {
  return {
    error: ({ input }: { input?: unknown }): string => {
      if (input instanceof Refusal) return input.message;
      const hint = typeof input === "string" && SERVICE_LINK.test(input) ? SERVICE_LINK_HINT : "";
      return `expected ${what}, found ${showFound(input)}${hint}`;
    },
  };
}

export function choice<const T extends string>(choices: readonly [T, ...T[]]) {
  return z.enum(choices, expected(choices.map((one) => `"${one}"`).join(" or ")));
}

/** A text that the pattern accepts. */
export function text(pattern: RegExp, what: string) {
  return z.string(expected(what)).regex(pattern, expected(what));
}

/** A whole number; both bounds belong to the range. */
export function integer(min: number, max: number, unit: string) {
  return wholeNumber(min, max, `a whole number of ${unit} from ${min} to ${max}`);
}

export function port() {
  return wholeNumber(0, 65_535, "a TCP port from 0 to 65535 (0 takes any that is free)");
}

function wholeNumber(min: number, max: number, what: string) {
  const form: Form = { fromText: (text) => (/^\d{1,15}$/.test(text) ? Number(text) : text) };
  return z.int(expected(what)).min(min, expected(what)).max(max, expected(what)).meta({ form });
}

/** Where a server listens. A name is refused: it may have several addresses, or another one tomorrow. */
export function host() {
  return z.union([z.ipv4(), z.ipv6()], expected("an IP address such as 127.0.0.1, 0.0.0.0 or ::"));
}

export function flag() {
  const form: Form = {
    note: "`1` or `0`",
    fromText: (text) => (/^(1|true)$/.test(text) ? true : /^(0|false)$/.test(text) ? false : text),
  };
  return z.boolean(expected("true or false (as a variable: 1 or 0)")).meta({ form });
}

const MINUTE_MS = 60_000;
const LONGEST_MS = 366 * 24 * 60 * MINUTE_MS;

/** How often something is done, in milliseconds: a duration such as `1 hour`; `null` for `off`. */
export function interval() {
  const wrong = expected('a duration from "1 minute" to "366 days", or "off"');
  const inRange = (text: string): boolean => {
    const everyMs = durationMs(text) ?? 0;
    return text === "off" || (everyMs >= MINUTE_MS && everyMs <= LONGEST_MS);
  };
  return z
    .string(wrong)
    .refine(inRange, wrong)
    .transform((text) => durationMs(text) ?? null);
}

/**
 * Different ones, each accepted by the schema: a list in the file, separated by commas in a variable.
 * @param isSame of two values
 */
export function list<T>(each: z.ZodType<T>, what: string, isSame: (one: T, other: T) => boolean = Object.is) {
  const { fromText, fromFile } = formOf(each);
  const form: Form = {
    note: "several are separated by commas",
    fromText: (text, sources) => text.split(",").map((part) => fromText(part.trim(), sources)),
    // What is no list is looked at as one of it, so that a secret is not shown.
    fromFile: (raw, sources) =>
      Array.isArray(raw) ? raw.map((one: unknown) => fromFile(one, sources)) : fromFile(raw, sources),
  };
  return z
    .array(each, expected(`a list, each ${what}`))
    .min(1, `expected at least one: ${what}; found an empty list`)
    .superRefine((values, context) => {
      for (const [index, value] of values.entries())
        if (values.slice(0, index).some((earlier) => isSame(earlier, value)))
          context.addIssue({ code: "custom", path: [index], message: "expected different ones, found this one twice" });
    })
    .meta({ form });
}

/** An object with something for each business; a variable carries it as JSON. */
export function byBusiness<T>(each: z.ZodType<T>, what: string) {
  const form: Form = {
    note: "JSON",
    fromText: (text) => {
      const json = parseJsonc(text);
      return json.ok ? json.value : text;
    },
  };
  return z.record(z.string().min(1), each, expected(`an object of businesses and ${what},`)).meta({ form });
}

/**
 * Overrides of the names that a service's document does not show: a JSON object, or a path to one. Only its being an
 * object is checked here; its names are checked by the client that uses them.
 */
export function dialect() {
  const what = "a JSON object, or a path to one";
  const isObject = (value: unknown): boolean =>
    typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Refusal);
  const form: Form = {
    note: "JSON, or a path to it",
    fromText: (text, { readFile }) =>
      text.trimStart().startsWith("{") ? jsonOf(text, "it") : jsonOfFile(text, readFile, what),
    fromFile: (raw, { readFileOfFile }) => (typeof raw === "string" ? jsonOfFile(raw, readFileOfFile, what) : raw),
  };
  return z.custom<object>(isObject, expected(what)).meta({ form });
}

/** What a JSON file holds. @param what completes the sentence "expected …" where it cannot be read */
export function jsonOfFile(path: string, readFile: (path: string) => string, what: string): unknown {
  try {
    return jsonOf(readFile(path), showFound(path));
  } catch (error) {
    return new Refusal(`expected ${what}, found ${showFound(path)}, which cannot be read (${reasonOf(error)})`);
  }
}

/** @param name of the text, in a problem */
export function jsonOf(text: string, name: string): unknown {
  const json = parseJsonc(text);
  if (json.ok) return json.value;
  const { line, column, message } = json.problem;
  return new Refusal(`${name} is not JSON; at line ${line}, column ${column}: ${message}`);
}

/** The form of a setting; where its schema has none, the value stands there as it is. */
export function formOf(schema: z.ZodType): Required<Omit<Form, "note">> & Pick<Form, "note"> {
  const wraps = schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault;
  if (wraps) return formOf(schema.unwrap() as z.ZodType);
  return { fromText: (text) => text, fromFile: (raw) => raw, ...schema.meta()?.form };
}

/** What a schema says against a value, each once, with the place inside of the value. */
export function problemsOf({ issues }: z.ZodError): string[] {
  const place = (path: readonly PropertyKey[]): string =>
    path.map((key) => (typeof key === "number" ? `entry ${key + 1}` : String(key))).join(".");
  return [...new Set(issues.map(({ path, message }) => (path.length > 0 ? `${place(path)}: ${message}` : message)))];
}

/** A schema of an object that has these fields and no other. */
export function strictFields<S extends z.ZodRawShape>(fields: S, what: string) {
  return z.strictObject(fields, {
    error: (issue) =>
      issue.code === "unrecognized_keys"
        ? issue.keys.map((key) => unknownName("field", key, Object.keys(fields))).join("; ")
        : expected(what).error(issue),
  });
}

/** A variable's text; undefined for an empty one too, which is what a compose file makes of one that is not set. */
export function variableOf(env: Environment, name: string): string | undefined {
  // The environment is an object like others: it has a `toString`.
  return Object.hasOwn(env, name) ? env[name] || undefined : undefined;
}
