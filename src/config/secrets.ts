import { createHash, timingSafeEqual } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { inspect } from "node:util";
import { z } from "zod";

import { type ConfigProblem, reasonOf, showFound } from "./config-error.ts";
import {
  expected,
  type Form,
  list,
  Refusal,
  type SettingsReading,
  type SettingTable,
  variableOf,
} from "./setting-kinds.ts";

const MASK = "[secret]";

/** Where a secret was read that may change while the process runs. */
export interface SecretFile {
  /** Absolute. */
  path: string;
  /** Why another value cannot take this one's place, without showing either; undefined where it can. */
  problemOf: (value: string, before: string) => string | undefined;
}

/**
 * A value that is never shown: printing it, logging it, putting it in JSON or in a template all give `[secret]`. Only
 * `reveal()` gives the value, so that every place where a secret is used can be found by that word. Reveal it anew for
 * each use: one that was read from a file changes when the file does.
 */
export class Secret {
  #value: string;
  #version = 1;
  readonly #file: SecretFile | undefined;

  constructor(value: string, file?: SecretFile) {
    this.#value = value;
    this.#file = file;
  }

  /** Undefined: the value stays for the life of the process. */
  get file(): SecretFile | undefined {
    return this.#file;
  }

  reveal(): string {
    return this.#value;
  }

  /** Another one after each change: tells whether the value is still the one that a request was sent with. */
  get version(): number {
    return this.#version;
  }

  /**
   * Takes another value, unless the rule, which finds it in place, has a problem with it.
   * @returns the problem
   */
  replace(value: string, rule: () => string | undefined): string | undefined {
    const before = this.#value;
    this.#value = value;
    const problem = rule();
    if (problem === undefined) this.#version++;
    else this.#value = before;
    return problem;
  }

  equals(other: Secret): boolean {
    return timingSafeEqual(digest(this.#value), digest(other.#value));
  }

  toString(): string {
    return MASK;
  }

  toJSON(): string {
    return MASK;
  }

  [inspect.custom](): string {
    return MASK;
  }
}

function digest(value: string): Buffer {
  return createHash("sha256").update(value).digest();
}

/** The form of a key, by prefix. */
interface KeyForm {
  /** "a key of the tax-compliance API" */
  noun: string;
  /** Each prefix with the environment that it stands for, where it stands for one. */
  prefixes: Readonly<Record<string, string | undefined>>;
}

/** Both documents, "Authentication". */
export const KEYS = {
  compliance: {
    noun: "a key of the tax-compliance API",
    prefixes: { cmp_sk_test_: "test", cmp_sk_live_: "live" },
  },
  accounting: {
    noun: "an API key of the accounting service",
    prefixes: { sk_development_: "development", sk_production_: "production" },
  },
  clientSecret: { noun: "a client secret of the accounting service", prefixes: { cs_: undefined } },
  webhookSecret: {
    noun: "a webhook secret of the accounting service",
    prefixes: { whsec_development_: "development", whsec_production_: "production" },
  },
} as const satisfies Record<string, KeyForm>;

/** What can stand in an HTTP header as it is. */
const VISIBLE_ASCII = /^[\x21-\x7e]+$/;

/**
 * Says what is wrong with a secret, without showing it; undefined where nothing is.
 * @param before the value whose place it would take while the process runs
 */
type SecretRule = (value: string, before?: string) => string | undefined;

const REFERENCE = '{ "env": "NAME" } or { "file": "PATH" }';
const reference = z.union([z.strictObject({ env: z.string().min(1) }), z.strictObject({ file: z.string().min(1) })]);

/** One secret: the variable holds it, the file only refers to it. */
export function secret(rule: SecretRule) {
  const problemOf: SecretRule = (value, before) =>
    value === "" ? "expected a secret, found an empty one" : rule(value, before);
  const accept = (value: string, place = "", file?: SecretFile): Secret | Refusal => {
    const problem = problemOf(value);
    return problem === undefined ? new Secret(value, file) : new Refusal(problem + place);
  };
  const form: Form = {
    fromText: (text) => accept(text),
    fromFile: (raw, sources) => {
      const { success, data } = reference.safeParse(raw);
      if (!success) {
        const literal = "a literal (not shown); secrets do not belong in this file";
        const found = typeof raw === "string" ? literal : showFound(raw);
        return new Refusal(`expected a reference, ${REFERENCE}, found ${found}`);
      }
      if ("env" in data) {
        sources.refersTo(data.env);
        const value = variableOf(sources.env, data.env);
        const name = `the variable ${showFound(data.env)}`;
        return value === undefined
          ? new Refusal(`refers to ${name}, which is not set`)
          : accept(value, ` (in ${name})`);
      }
      const name = `the file ${showFound(data.file)}`;
      try {
        const value = secretIn(sources.readFileOfFile(data.file));
        return accept(value, ` (in ${name})`, { path: sources.pathOfFile(data.file), problemOf });
      } catch (error) {
        return new Refusal(`refers to ${name}, which cannot be read (${reasonOf(error)})`);
      }
    },
  };
  return z.instanceof(Secret, expected("a secret")).meta({ form });
}

/** Several secrets, of which the first is the one in use. */
export function secrets(rule: SecretRule) {
  return list(secret(rule), REFERENCE, (one, other) => one.equals(other));
}

/** Editors and `echo` end a file with a line break that is no part of the secret. */
function secretIn(text: string): string {
  return text.replace(/\r?\n$/, "");
}

export function keyRule(form: KeyForm): SecretRule {
  return (value, before) =>
    keyFormProblem(value, form) ?? (before === undefined ? undefined : keyChangeProblem(value, before, form));
}

/** What is wrong with a key, without showing it. A prefix is not secret: it says what kind of key was pasted. */
function keyFormProblem(value: string, form: KeyForm): string | undefined {
  const prefixes = Object.keys(form.prefixes);
  const expected = `expected ${form.noun}, which begins with ${prefixes.join(" or ")}`;
  const prefix = prefixes.find((candidate) => value.startsWith(candidate));
  if (prefix === undefined) return `${expected}; found ${kindOf(value)} (not shown)`;
  if (value.length === prefix.length) return `${expected} and goes on; found the prefix alone`;
  if (!VISIBLE_ASCII.test(value))
    return `${expected}; found one with white space or other invisible characters in it (not shown)`;
  return undefined;
}

/**
 * Why one key cannot take the place of another while the process runs, without showing either: what the environment
 * decides, such as the businesses that are reached, was decided at the start.
 */
function keyChangeProblem(value: string, before: string, form: KeyForm): string | undefined {
  const [found, expected] = [value, before].map((key) => environmentOf(key, form));
  if (found === expected) return undefined;
  return `expected ${form.noun} of the environment that the process started with, ${expected}; found one of ${found}. A change of environment needs a restart`;
}

/** The environment that a key's prefix stands for; undefined without a key, and where the prefix is not of this form. */
export function keyEnvironment(key: Secret | undefined, form: KeyForm): string | undefined {
  return key && environmentOf(key.reveal(), form);
}

function environmentOf(key: string, { prefixes }: KeyForm): string | undefined {
  return Object.entries(prefixes).find(([prefix]) => key.startsWith(prefix))?.[1];
}

function kindOf(value: string): string {
  for (const form of Object.values<KeyForm>(KEYS)) {
    const prefix = Object.keys(form.prefixes).find((candidate) => value.startsWith(candidate));
    if (prefix !== undefined) return `one that begins with ${prefix}, ${form.noun}`;
  }
  if (/^\s|\s$/.test(value)) return "one with white space around it";
  return `${value.length} characters with another beginning`;
}

const EVERY_MS = 5_000;
/** A file that is being written is read again after this pause, until two readings agree. */
const SETTLED_AFTER_MS = 100;
const MOST_READINGS = 5;
/** A file system that does not answer must not hold up the call whose key was refused. */
const READ_WITHIN_MS = 2_000;
const FRESH_FOR_MS = 1_000;
const MOST_BYTES = 64 * 1024;

/** A secret that was read from a file, and takes the value that the file has later. */
export interface RotatingSecret {
  /** Its setting, such as `compliance.shop.apiKey`; for logs and metrics. */
  name: string;
  secret: Secret;
  file: SecretFile;
  /** The rules between settings that were kept at the start, as they judge the present values. */
  problemsBetween: () => readonly ConfigProblem[];
}

/** Told of each change; never of a value. */
export interface SecretWatch {
  replaced: (name: string) => void;
  /** Once when a file begins to be of no use. The value of before stays in use. */
  refused: (name: string, path: string, why: string) => void;
  /** Once when a file that was of no use holds a usable value again, new or old. */
  usable: (name: string) => void;
}

/** Those of one connection, or of another part of the configuration. */
export function secretFilesOf<S extends SettingTable>(
  { values, where }: SettingsReading<S>,
  problemsBetween: RotatingSecret["problemsBetween"],
): RotatingSecret[] {
  return (Object.keys(values) as (keyof S & string)[]).flatMap((key) => {
    const value: unknown = values[key];
    const several = Array.isArray(value);
    return [value].flat().flatMap((secret: unknown, index): RotatingSecret[] => {
      if (!(secret instanceof Secret) || secret.file === undefined) return [];
      const name = several ? `${where(key)}.${index + 1}` : where(key);
      return [{ name, secret, file: secret.file, problemsBetween }];
    });
  });
}

/**
 * Keeps the secrets as their files have them. The files are read, and not watched for events: a secret that Kubernetes
 * mounts changes by a symbolic link far above the file.
 */
export class SecretFiles {
  readonly #secrets: readonly RotatingSecret[];
  readonly #watch: SecretWatch;
  readonly #refused = new Set<RotatingSecret>();
  #lastBegunAtMs = -Infinity;
  #timer: NodeJS.Timeout | undefined;
  #current: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;

  constructor(secrets: readonly RotatingSecret[], watch: SecretWatch) {
    this.#secrets = secrets;
    this.#watch = watch;
  }

  /** Reads the files every five seconds from now on. */
  start(): void {
    if (this.#secrets.length === 0) return;
    this.#timer = setInterval(() => void this.readAgain(), EVERY_MS);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Resolves once every file has been read, from its beginning, after this call. Waits two seconds at most. */
  async readAgain(): Promise<void> {
    if (this.#secrets.length === 0) return;
    // Whoever comes during a reading needs one that begins later, and shares it.
    this.#next ??= this.#current.then(() => {
      this.#next = undefined;
      return (this.#current = this.#readAll());
    });
    const over = new AbortController();
    const late = delay(READ_WITHIN_MS, undefined, { signal: over.signal }).catch(() => undefined);
    await Promise.race([this.#next, late]);
    over.abort();
  }

  /** The same, unless they were read within the last second: for what anybody can bring about. */
  async readAgainIfOld(): Promise<void> {
    if (performance.now() - this.#lastBegunAtMs > FRESH_FOR_MS) await this.readAgain();
  }

  /** Never rejects. */
  async #readAll(): Promise<void> {
    this.#lastBegunAtMs = performance.now();
    const found = await Promise.all(this.#secrets.map((one) => settled(one)));
    // At once for all: a call must not be signed with the new key and the old client secret.
    for (const [index, one] of this.#secrets.entries()) this.#take(one, found[index]);
  }

  #take(one: RotatingSecret, found: Found | undefined): void {
    if (found === undefined) return;
    const { name, file } = one;
    const why = found.value === undefined ? found.problem : this.#replace(one, found.value);
    if (why === undefined) {
      if (this.#refused.delete(one)) this.#watch.usable(name);
    } else if (!this.#refused.has(one)) {
      this.#refused.add(one);
      this.#watch.refused(name, file.path, why);
    }
  }

  /** @returns why the value was not taken */
  #replace({ name, secret, file, problemsBetween }: RotatingSecret, value: string): string | undefined {
    const before = secret.reveal();
    if (value === before) return undefined;
    const why = file.problemOf(value, before) ?? secret.replace(value, () => problemsBetween()[0]?.message);
    if (why === undefined) this.#watch.replaced(name);
    return why;
  }
}

/** What a file holds, or why that cannot be used. */
interface Found {
  value?: string;
  problem?: string;
}

/** What the file holds, once it is not being written; undefined where that is not known at present. */
async function settled({ secret, file }: RotatingSecret): Promise<Found | undefined> {
  let found = await look(file.path);
  for (let reading = 1; reading < MOST_READINGS && found !== undefined; reading++) {
    if (found.value === secret.reveal()) return found;
    await delay(SETTLED_AFTER_MS);
    const again = await look(file.path);
    if (found.value === again?.value && found.problem === again?.problem) return again;
    found = again;
  }
  return undefined;
}

/** Undefined: a pipe, or another thing that is read once. */
async function look(path: string): Promise<Found | undefined> {
  try {
    const stats = await stat(path);
    if (stats.isDirectory()) return { problem: "expected a file, found a folder" };
    if (!stats.isFile()) return undefined;
    if (stats.size > MOST_BYTES) return { problem: `expected at most ${MOST_BYTES} bytes, found ${stats.size}` };
    return { value: secretIn(await readFile(path, "utf8")) };
  } catch (error) {
    return { problem: `cannot be read (${reasonOf(error)})` };
  }
}
