import ipaddr from "ipaddr.js";
import { z } from "zod";

import { durationMs } from "../contract/schema/parse-input.ts";
import { reasonOf, showFound } from "./config-error.ts";
import { parseJsonc } from "./parse-jsonc.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Where a value was found, and what it may refer to there. */
export interface Source {
  /** A variable has a text for everything; the file has JSON's own values. */
  isVariable: boolean;
  env: Environment;
  /** The absolute path; relative ones start in the working directory, or in the folder of the configuration file. */
  pathOf: (name: string) => string;
  /** @throws where it cannot be read */
  readFile: (path: string) => string;
  /** Told of each variable that the file refers to: it is meant, whatever it is called. */
  refersTo: (variable: string) => void;
}

declare module "zod" {
  /** What a setting's schema carries besides its rules; its `description` says what it means. */
  interface GlobalMeta {
    /** What the schema is to judge; default: the value as it is found. @throws Refusal */
    resolve?: (raw: unknown, source: Source) => unknown;
    /** How the documentation tells of a variable that says what JSON says otherwise. */
    note?: string;
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
    return [key, schema.meta({ ...innermost(schema).meta(), variable, ...schema.meta() })];
  });
  return Object.fromEntries(named) as S;
}

function innermost(schema: z.ZodType): z.ZodType {
  const wraps = schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault;
  return wraps ? innermost(schema.unwrap() as z.ZodType) : schema;
}

/** What was read of a section, whole or not: rules between settings look at those that there are. */
export interface SettingsReading<S extends SettingTable> {
  /** Undefined where a setting has a problem too. */
  values: Partial<SettingValues<S>>;
  /** Settings that someone set, well or not. */
  given: ReadonlySet<string>;
  /** Where a setting was given, or would have been: for problems that need more than one. */
  where: (key: string) => string;
}

/** Of settings that were read without a problem, every one that is needed or has a default is there. */
export function valuesOf<S extends SettingTable>({ values }: SettingsReading<S>): SettingValues<S> {
  return values as SettingValues<S>;
}

/** A value that refers to something that cannot be had. */
export class Refusal extends Error {}

/** What a schema says of everything that it refuses. `what` completes the sentence "expected …". */
export function expected(what: string) {
  return { error: ({ input }: { input?: unknown }): string => `expected ${what}, found ${showFound(input)}` };
}

/** How a variable says a value. What cannot be understood goes on as it is, for the schema to refuse. */
const fromText =
  (read: (text: string) => unknown) =>
  (raw: unknown, { isVariable }: Source) =>
    isVariable ? read(String(raw)) : raw;

export function choice<const T extends string>(choices: readonly [T, ...T[]]) {
  return z.enum(choices, expected(choices.map((one) => `"${one}"`).join(" or ")));
}

/** A text that the pattern accepts. */
export function text(pattern: RegExp, what: string) {
  return z.string(expected(what)).regex(pattern, expected(what));
}

export function shortText(most: number, what: string) {
  const wrong = expected(`${what} of 1 to ${most} characters`);
  return z.string(wrong).trim().min(1, wrong).max(most, wrong);
}

/** A whole number; both bounds belong to the range. */
export function integer(min: number, max: number, unit: string) {
  return wholeNumber(min, max, `a whole number of ${unit} from ${min} to ${max}`);
}

/** Kubernetes sets variables such as `CALLBACK_PORT=tcp://10.0.0.7:8080` for a service of that name. */
const OF_A_SERVICE = /^(tcp|udp|sctp):\/\//;

export function port() {
  const what = "a TCP port from 0 to 65535 (0 takes any that is free)";
  return wholeNumber(0, 65_535, what, (text) => (OF_A_SERVICE.test(text) ? undefined : text));
}

/** @param otherwise what a variable's text stands for that is no number; default: itself, which is refused */
function wholeNumber(min: number, max: number, what: string, otherwise = (text: string): string | undefined => text) {
  const resolve = fromText((text) => (/^\d{1,15}$/.test(text) ? Number(text) : otherwise(text)));
  return z.int(expected(what)).min(min, expected(what)).max(max, expected(what)).meta({ resolve });
}

/** Where a server listens. A name is refused: it may have several addresses, or another one tomorrow. */
export function host() {
  return z.union([z.ipv4(), z.ipv6()], expected("an IP address such as 127.0.0.1, 0.0.0.0 or ::"));
}

export function flag() {
  const resolve = fromText((text) => (/^(1|true)$/.test(text) ? true : /^(0|false)$/.test(text) ? false : text));
  return z.boolean(expected("true or false (as a variable: 1 or 0)")).meta({ resolve, note: "`1` or `0`" });
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

/** A list in the file, separated by commas in a variable. */
export function list<T>(each: z.ZodType<T>, what: string) {
  const { resolve: resolveEach = (raw: unknown) => raw } = each.meta() ?? {};
  return z
    .array(each, expected(`a list, each ${what}`))
    .min(1, `expected at least one: ${what}; found an empty list`)
    .meta({
      note: "several are separated by commas",
      resolve(raw, source) {
        const entries = source.isVariable
          ? String(raw)
              .split(",")
              .map((one) => one.trim())
          : raw;
        // What is no list is looked at as one of it, so that a secret is not shown.
        return Array.isArray(entries) ? entries.map((one) => resolveEach(one, source)) : resolveEach(entries, source);
      },
    });
}

/** An object with something for each business; a variable carries it as JSON. */
export function byBusiness<T>(each: z.ZodType<T>, what: string) {
  const resolve = fromText((text) => {
    const json = parseJsonc(text);
    return "value" in json ? json.value : text;
  });
  return z
    .record(z.string().min(1), each, expected(`an object of businesses and ${what},`))
    .meta({ resolve, note: "JSON" });
}

/** Overrides of the names that a service's document does not show: a JSON object, or a path to one. */
export function dialect() {
  const what = "a JSON object, or a path to one";
  return z.record(z.string(), z.unknown(), expected(what)).meta({
    note: "JSON, or a path to it",
    resolve(raw, source) {
      if (typeof raw !== "string") return raw;
      return source.isVariable && raw.trimStart().startsWith("{") ? jsonOf(raw, "it") : jsonOfFile(raw, source, what);
    },
  });
}

/** What a JSON file holds. @param what completes the sentence "expected …" where it cannot be read. @throws Refusal */
export function jsonOfFile(name: string, { pathOf, readFile }: Source, what: string): unknown {
  let text: string;
  try {
    text = readFile(pathOf(name));
  } catch (error) {
    throw new Refusal(`expected ${what}, found ${showFound(name)}, which cannot be read (${reasonOf(error)})`);
  }
  return jsonOf(text, showFound(name));
}

/** @param name of the text, in a problem. @throws Refusal */
export function jsonOf(text: string, name: string): unknown {
  const json = parseJsonc(text);
  if ("value" in json) return json.value;
  throw new Refusal(`${name} is not JSON; at ${json.problem}`);
}

/** A variable's text; undefined for an empty one too, which is what a compose file makes of one that is not set. */
export function variableOf(env: Environment, name: string): string | undefined {
  return env[name] || undefined;
}

/** With the longest token behind it, within the API's limit (Fiscal Compliance API, "Limits": callbackUrl, 2048). */
const MOST_CHARACTERS = 1_000;
const ABSOLUTE_URL = `an absolute URL of at most ${MOST_CHARACTERS} characters (https://host, perhaps with a port and a path)`;

/** An absolute http or https URL of any host. What stands beside host and path is not quoted: it may be a secret. */
export function plainUrl() {
  const wrong = expected(ABSOLUTE_URL);
  const hidden = `expected ${ABSOLUTE_URL}, found one with a user name, a query or a fragment (not shown)`;
  return z
    .string(wrong)
    .refine((text) => !/[@?#]/.test(text), { error: hidden, abort: true })
    .max(MOST_CHARACTERS, wrong)
    .refine((text) => /^https?:\/\/[^\s\\]+$/i.test(text) && URL.canParse(text), { ...wrong, abort: true })
    .transform((text) => new URL(text));
}

/** The base address of one of the services; the value has no slash at its end. */
export function baseUrl() {
  return plainUrl()
    .refine((url) => url.protocol === "https:" || isLoopbackHost(url), {
      error: ({ input }) =>
        `expected https, since keys travel with every request (http is accepted on loopback only), found http to ${(input as URL).hostname}`,
    })
    .transform(addressOf);
}

/** Of a web page, as a browser names it: scheme, host and port alone. */
export function origin() {
  return plainUrl()
    .refine((url) => url.pathname === "/", {
      error: ({ input }) => `expected an origin, which has no path; found ${addressOf(input as URL)}`,
    })
    .refine((url) => url.protocol === "https:" || isLoopbackHost(url), {
      error: ({ input }) =>
        `expected https, since anybody who can change that page reads what it is shown (http is accepted on loopback only); found ${addressOf(input as URL)}`,
    })
    .transform(({ origin: named }) => named);
}

/** Origin and path, without a slash at the end: two ways to write one address give one text. */
export function addressOf(url: URL): string {
  return `${url.origin}${url.pathname}`.replace(/\/+$/, "");
}

/** Why the API could not deliver callbacks to a URL; undefined where it may. */
export function publicUrlProblem(url: URL, allowLoopback: boolean): string | undefined {
  if (allowLoopback && isLoopbackHost(url)) return undefined;
  const wanted = "expected an absolute https URL of a public host";
  if (isLoopbackHost(url)) {
    return `${wanted}, found the loopback host ${url.hostname}; for the simulator and tests, set CALLBACK_ALLOW_LOOPBACK=1`;
  }
  if (!isPublicHost(url)) return `${wanted}, found ${url.hostname}, which the internet cannot reach`;
  if (url.protocol !== "https:")
    return `${wanted}, found http: the URL is a capability and must not travel in the clear`;
  return undefined;
}

/** What is wrong with a URL of PostgreSQL. It holds a password, so none of it is shown. */
export function postgresProblem(value: string): string | undefined {
  const wanted = "expected a URL postgres://user:password@host:port/database";
  if (!/^postgres(ql)?:\/\//.test(value)) return `${wanted}, found a value with another beginning (not shown)`;
  if (!URL.canParse(value))
    return `${wanted}, found one that is no URL (not shown); escape special characters of the password`;
  return undefined;
}

const VERIFIED = "verify-full";

/**
 * Why the password and the records must not travel to this PostgreSQL; undefined where they may. The rule is that of the
 * services' base URLs: plain text on loopback only. Host and TLS are read from the URL as the driver reads them.
 * @param url accepted as a URL of PostgreSQL
 */
export function plaintextProblem(url: string): string | undefined {
  const { hostname, searchParams } = new URL(url);
  const host = searchParams.getAll("host").at(-1) || hostname.replace(/^(%2f.*)+$/i, decodeURIComponent);
  const mode = searchParams.getAll("sslmode").at(-1);
  if (mode === VERIFIED || isLocal(host)) return undefined;
  const found = mode === undefined ? "none" : showFound(mode);
  // The driver would ask the environment for a host (PGHOST).
  const where = host === "" ? "in a URL that names no host" : `for the host ${host}`;
  return `expected sslmode=${VERIFIED} in the URL, since the password and all records travel to that server (without it, only loopback and a unix socket are accepted); found ${found} ${where}. LEDGER_ALLOW_PLAINTEXT=1 accepts it, for a network that you trust`;
}

function isLocal(host: string): boolean {
  if (host.startsWith("/")) return true;
  const url = `http://${ipaddr.IPv6.isValid(host) ? `[${host}]` : host}`;
  return URL.canParse(url) && isLoopbackHost(new URL(url));
}

const NOT_PUBLIC_NAME = /(^|\.)(localhost|local|internal|home\.arpa)$/;

/** @param url whose host the URL parser has brought into its one form (`0x7f.1` is then 127.0.0.1) */
export function isLoopbackHost(url: URL): boolean {
  const host = hostOf(url);
  return rangeOf(host) === "loopback" || /(^|\.)localhost$/.test(host);
}

/** Whether the host may be one on the internet. Nothing is looked up: a name with a private address passes. */
export function isPublicHost(url: URL): boolean {
  const host = hostOf(url);
  const range = rangeOf(host);
  return range === undefined ? host.includes(".") && !NOT_PUBLIC_NAME.test(host) : range === "unicast";
}

/** Of an address; one of IPv4 inside of IPv6 (`::ffff:10.0.0.1`) is in the range of the former. */
function rangeOf(host: string): string | undefined {
  return ipaddr.isValid(host) ? ipaddr.process(host).range() : undefined;
}

function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
}
