import { z } from "zod";

import { durationMs } from "../contract/schema/fields.ts";
import { reasonOf, showFound, unknownName } from "./config-error.ts";
import { parseJsonc } from "./parse-jsonc.ts";
import { Secret } from "./secret.ts";

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
  /** What a setting's schema carries besides its rules: all that the documentation says of it. */
  interface GlobalMeta {
    form?: Form;
    /** Of connections, the one that is called `default`. */
    variable?: string;
    meaning?: string;
    /** How the default reads in documentation, where it is not the schema's as it stands. */
    defaultText?: string;
    /** What the example shows where there is no default. */
    example?: unknown;
    /** Needed beside others that would do as well: the example has it, and not as a comment. */
    inExample?: boolean;
  }
}

/** Takes the place of a value that cannot be had: its schema says why. */
export class Refusal {
  readonly message: string;
  constructor(message: string) {
    this.message = message;
  }
}

/** What a schema says of everything that it refuses. `what` completes the sentence "expected …". */
export function expected(what: string) {
  return {
    error: ({ input }: { input?: unknown }): string =>
      input instanceof Refusal ? input.message : `expected ${what}, found ${showFound(input)}`,
  };
}

export function choice<const T extends string>(choices: readonly [T, ...T[]]) {
  return z.enum(choices, expected(choices.map((one) => `"${one}"`).join(" or ")));
}

/** A text that the pattern accepts. */
export function text(pattern: RegExp, what: string) {
  return z.string(expected(what)).regex(pattern, expected(what));
}

const DIGITS: Form = { fromText: (text) => (/^\d{1,15}$/.test(text) ? Number(text) : text) };

/** A whole number; both bounds belong to the range. */
export function integer(min: number, max: number, unit: string) {
  const wrong = expected(`a whole number of ${unit} from ${min} to ${max}`);
  return z.int(wrong).min(min, wrong).max(max, wrong).meta({ form: DIGITS });
}

/** Kubernetes sets NAME_PORT=tcp://… in every pod for a Service called NAME. */
const SERVICE_LINK = /^tcp:\/\//;
const SERVICE_LINK_HINT =
  "Kubernetes sets this for a Service of that name: set enableServiceLinks to false, or rename the Service";

export function port() {
  const { error } = expected("a TCP port from 0 to 65535 (0 takes any that is free)");
  const wrong = {
    error: (issue: { input?: unknown }) =>
      SERVICE_LINK.test(String(issue.input)) ? `${error(issue)}. ${SERVICE_LINK_HINT}` : error(issue),
  };
  return z.int(wrong).min(0, wrong).max(65_535, wrong).meta({ form: DIGITS });
}

/** Where a server listens. A name is refused: it may have several addresses, or another one tomorrow. */
export function host() {
  return z.union([z.ipv4(), z.ipv6()], expected("an IP address such as 127.0.0.1, 0.0.0.0 or ::"));
}

const FLAGS = new Map([
  ["1", true],
  ["true", true],
  ["0", false],
  ["false", false],
]);

export function flag() {
  const form: Form = { note: "`1` or `0`", fromText: (text) => FLAGS.get(text) ?? text };
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
 * @param noun what each is called in a problem
 */
export function list<T>(each: z.ZodType<T>, what: string, noun = ""): z.ZodType<T[]> {
  const { fromText, fromFile } = formOf(each);
  const form: Form = {
    note: "several are separated by commas",
    fromText: (text, sources) => text.split(",").map((part) => fromText(part.trim(), sources)),
    // What is no list is looked at as one of it, so that a secret is not shown.
    fromFile: (raw, sources) =>
      Array.isArray(raw) ? raw.map((one: unknown) => fromFile(one, sources)) : fromFile(raw, sources),
  };
  const notAList = ({ input }: { input?: unknown }): string =>
    input instanceof Refusal ? input.message : `expected a list, each ${what}; found ${showFound(input)}`;
  return z
    .array(z.unknown(), { error: notAList })
    .transform((found, context) => {
      const values: T[] = [];
      const refuse = (message: string): void => context.addIssue({ code: "custom", message });
      if (found.length === 0) refuse(`expected at least one: ${what}; found an empty list`);
      for (const [index, raw] of found.entries()) {
        const place = `${noun}${index + 1} of ${found.length}: `;
        const reading = each.safeParse(raw);
        if (!reading.success) refuse(place + problemsOf(reading.error).join("; "));
        else if (!values.some((value) => same(value, reading.data))) values.push(reading.data);
        else
          refuse(
            `${place}expected different ones, found ${raw instanceof Secret ? "one that stands there" : showFound(raw)} twice`,
          );
      }
      return values;
    })
    .meta({ form });
}

function same(one: unknown, other: unknown): boolean {
  return one === other || (one instanceof Secret && other instanceof Secret && one.equals(other));
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
  const ofText = (text: string, where: string): unknown => {
    const json = parseJsonc(text);
    if (json.ok) {
      return isObject(json.value)
        ? json.value
        : new Refusal(`expected ${what}, found ${showFound(json.value)}${where}`);
    }
    const { line, column, message } = json.problem;
    return new Refusal(`expected JSON; at line ${line}, column ${column}${where}: ${message}`);
  };
  const ofFile = (path: string, readFile: Sources["readFile"]): unknown => {
    let text: string;
    try {
      text = readFile(path);
    } catch (error) {
      return new Refusal(`expected ${what}; found ${showFound(path)}, which cannot be read (${reasonOf(error)})`);
    }
    return ofText(text, ` in ${showFound(path)}`);
  };
  const form: Form = {
    note: "JSON, or a path to it",
    fromText: (text, { readFile }) => (text.trimStart().startsWith("{") ? ofText(text, "") : ofFile(text, readFile)),
    fromFile: (raw, { readFileOfFile }) => (typeof raw === "string" ? ofFile(raw, readFileOfFile) : raw),
  };
  return z.custom<object>(isObject, expected(what)).meta({ form });
}

/** The form of a setting; where its schema has none, the value stands there as it is. */
export function formOf(schema: z.ZodType): Required<Omit<Form, "note">> & Pick<Form, "note"> {
  const form = innermost(schema).meta()?.form;
  return { fromText: (text) => text, fromFile: (raw) => raw, ...form };
}

/** The default of a schema, as the file would say it. */
export function defaultOf(schema: z.ZodType): unknown {
  return schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault ? schema.def.defaultValue : undefined;
}

function innermost(schema: z.ZodType): z.ZodType {
  const wraps = schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault;
  return wraps ? innermost(schema.unwrap() as z.ZodType) : schema;
}

/** What a schema says against a value, each once, with the place inside of the value. */
export function problemsOf({ issues }: z.ZodError): string[] {
  return [...new Set(issues.map(({ path, message }) => (path.length > 0 ? `${path.join(".")}: ${message}` : message)))];
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

/** The settings of one section of the file, by key. The tables are also what the documentation is printed from. */
export type SettingTable = Readonly<Record<string, z.ZodType>>;

export type SettingValues<S extends SettingTable> = { [K in keyof S]: z.output<S[K]> };
