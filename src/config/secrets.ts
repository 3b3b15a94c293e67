import { statSync } from "node:fs";
import { inspect, isDeepStrictEqual } from "node:util";
import { z } from "zod";

import { ConfigError, reasonOf, showFound } from "./config-error.ts";
import { expected, list, Refusal, type Source, variableOf } from "./setting-kinds.ts";

const MASK = "[secret]";

/**
 * A value that is never shown: printing it, logging it, putting it in JSON or in a template all give `[secret]`. Only
 * `reveal()` gives the value, so that every place where a secret is used can be found by that word. Reveal it anew for
 * each use: one that was read from a file changes when the file does.
 */
export class Secret {
  #value: string;
  #version = 1;
  readonly #path: string | undefined;

  /** @param path of the file that holds it; without, the value stays for the life of the process */
  constructor(value: string, path?: string) {
    this.#value = value;
    this.#path = path;
  }

  /** Absolute. */
  get path(): string | undefined {
    return this.#path;
  }

  reveal(): string {
    return this.#value;
  }

  /** Another one after each change: tells whether the value is still the one that a request was sent with. */
  get version(): number {
    return this.#version;
  }

  replace(value: string): void {
    this.#value = value;
    this.#version++;
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

/** What can stand in an HTTP header as it is, and the environment of the key (both documents, "Authentication"). */
export const KEYS = {
  compliance: {
    noun: "a key of the tax-compliance API, which begins with cmp_sk_test_ or cmp_sk_live_",
    form: /^cmp_sk_(test|live)_[\x21-\x7e]+$/,
  },
  accounting: {
    noun: "an API key of the accounting service, which begins with sk_development_ or sk_production_",
    form: /^sk_(development|production)_[\x21-\x7e]+$/,
  },
  clientSecret: { noun: "a client secret of the accounting service, which begins with cs_", form: /^cs_[\x21-\x7e]+$/ },
  webhookSecret: {
    noun: "a webhook secret of the accounting service, which begins with whsec_development_ or whsec_production_",
    form: /^whsec_(development|production)_[\x21-\x7e]+$/,
  },
} as const;

/** What is wrong with a secret, without showing it; undefined where nothing is. */
type SecretRule = (value: string) => string | undefined;

export function keyRule({ noun, form }: (typeof KEYS)[keyof typeof KEYS]): SecretRule {
  return (value) => {
    if (form.test(value)) return undefined;
    const other = Object.values(KEYS).find((one) => one.form.test(value))?.noun ?? `${value.length} other characters`;
    return `expected ${noun} and goes on without white space; found ${other} (not shown)`;
  };
}

/** The environment that a key's prefix stands for; undefined where it stands for none. */
export function environmentOf(key: Secret | undefined): string | undefined {
  return Object.values(KEYS)
    .map(({ form }) => form.exec(key?.reveal() ?? "")?.[1])
    .find((environment) => environment !== undefined);
}

const REFERENCE = '{ "env": "NAME" } or { "file": "PATH" }';
const reference = z.union([z.strictObject({ env: z.string().min(1) }), z.strictObject({ file: z.string().min(1) })]);

/** One secret: the variable holds it, the file only refers to it. */
export function secret(rule: SecretRule) {
  return z
    .instanceof(Secret, expected("a secret"))
    .superRefine((one, context) => {
      const problem = rule(one.reveal());
      if (problem !== undefined) context.addIssue(problem);
    })
    .meta({ resolve: secretFrom });
}

/** Several secrets, of which the first is the one in use. */
export function secrets(rule: SecretRule) {
  return list(secret(rule), REFERENCE);
}

/**
 * The setting of a secret in a process that does not use it: what it refers to is not read, and need not be there.
 * @param one from a table of settings, made by {@link secret}
 */
export function unused<S extends z.ZodType>(one: S): S {
  const resolve = (raw: unknown, source: Source): undefined => {
    if (!source.isVariable) referenceFrom(raw, source);
  };
  return one.meta({ ...one.meta(), resolve });
}

function referenceFrom(raw: unknown, source: Source): z.output<typeof reference> {
  const { success, data } = reference.safeParse(raw);
  if (!success) {
    const literal = "a literal (not shown); secrets do not belong in this file";
    throw new Refusal(
      `expected a reference, ${REFERENCE}, found ${typeof raw === "string" ? literal : showFound(raw)}`,
    );
  }
  if ("env" in data) source.refersTo(data.env);
  return data;
}

function secretFrom(raw: unknown, source: Source): Secret {
  if (source.isVariable) return new Secret(String(raw));
  const data = referenceFrom(raw, source);
  if ("env" in data) {
    const value = variableOf(source.env, data.env);
    if (value === undefined) throw new Refusal(`refers to the variable ${showFound(data.env)}, which is not set`);
    return new Secret(value);
  }
  const path = source.pathOf(data.file);
  try {
    // Editors and `echo` end a file with a line break that is no part of the secret.
    return new Secret(source.readFile(path).replace(/\r?\n$/, ""), path);
  } catch (error) {
    throw new Refusal(`refers to the file ${showFound(data.file)}, which cannot be read (${reasonOf(error)})`);
  }
}

const EVERY_MS = 5_000;
/** In which a file that was begun is written. */
const WRITTEN_WITHIN_MS = 100;

/** A secret that was read from a file, and takes the value that the file has later. */
interface SecretFile {
  /** Its setting, such as `compliance.shop.apiKey`; for logs and metrics. */
  name: string;
  secret: Secret;
  /** Absolute. */
  path: string;
}

/** Told of each change; never of a value. */
export interface SecretWatch {
  replaced: (name: string) => void;
  /** Once when a file begins to be of no use. The value of before stays in use. */
  refused: (name: string, path: string, why: string) => void;
  /** Once when a file that was of no use holds a usable value again, new or old. */
  usable: (name: string) => void;
}

export type ReadFile = (path: string) => string;

/**
 * Keeps the secrets as their files have them: a file that has changed is judged by reading the whole configuration with
 * it. The files are read, and not watched for events: a secret that Kubernetes mounts changes by a symbolic link far
 * above the file.
 */
export class SecretFiles {
  readonly all: readonly SecretFile[];
  readonly #readFile: ReadFile;
  readonly #load: (readFile: ReadFile) => SecretFiles;
  readonly #refused = new Set<string>();
  #texts: ReadonlyMap<string, string>;
  #watch: SecretWatch | undefined;

  /**
   * @param texts what the files of the configuration held when it was read, by path
   * @param load the secrets of the same configuration, its files read in this way. @throws ConfigError
   */
  constructor(
    all: readonly SecretFile[],
    texts: ReadonlyMap<string, string>,
    readFile: ReadFile,
    load: (readFile: ReadFile) => SecretFiles,
  ) {
    this.all = all;
    this.#texts = texts;
    this.#readFile = readFile;
    this.#load = load;
  }

  /**
   * Reads the files every five seconds from now on. What has changed is taken if it is still the same a moment later: a
   * file may be in the middle of being written. @returns ends that
   */
  start(watch: SecretWatch): () => void {
    this.#watch = watch;
    let second: NodeJS.Timeout | undefined;
    const first = setInterval(() => {
      const seen = this.#read();
      second = setTimeout(() => {
        if (isDeepStrictEqual(this.#read(), seen)) this.readAgain();
      }, WRITTEN_WITHIN_MS).unref();
    }, EVERY_MS).unref();
    return () => {
      clearInterval(first);
      clearTimeout(second);
    };
  }

  #read(): ReadonlyMap<string, string | undefined> {
    return new Map(this.all.map(({ path }) => [path, this.#textOf(path)]));
  }

  /** Of a pipe, what it held at the start: to read it again would wait for its writer, and hold up the process. */
  #textOf(path: string): string | undefined {
    try {
      const stats = statSync(path, { throwIfNoEntry: false });
      return stats?.isFIFO() === true ? this.#texts.get(path) : this.#readFile(path);
    } catch {
      return undefined;
    }
  }

  /** At once for all: a call must not be signed with the new key and the old client secret. */
  readAgain(): void {
    for (const { name, path } of this.all) {
      const why = this.#take(path);
      if (why === undefined) {
        if (this.#refused.delete(name)) this.#watch?.usable(name);
      } else if (!this.#refused.has(name)) {
        this.#refused.add(name);
        this.#watch?.refused(name, path, why);
      }
    }
  }

  /** @returns why the values that a file has now were not taken */
  #take(path: string): string | undefined {
    if (this.#textOf(path) === this.#texts.get(path)) return undefined;
    try {
      // All others as they were, so that one file of no use holds up none of them.
      const fresh = this.#load(
        (other) => (other === path ? undefined : this.#texts.get(other)) ?? this.#readFile(other),
      );
      const changed = this.all.flatMap(({ name, secret }, index) => {
        const now = fresh.all[index]?.secret ?? secret;
        return now.reveal() === secret.reveal() ? [] : [{ name, secret, now }];
      });
      // What the environment decides, such as the businesses that are reached, was decided at the start.
      for (const { secret, now } of changed) {
        const [expected, found] = [environmentOf(secret), environmentOf(now)];
        if (found !== expected)
          return `expected a key of the environment that the process started with, ${expected}; found one of ${found}. A change of environment needs a restart`;
      }
      this.#texts = fresh.#texts;
      for (const { name, secret, now } of changed) {
        secret.replace(now.reveal());
        this.#watch?.replaced(name);
      }
      return undefined;
    } catch (error) {
      if (error instanceof ConfigError) return error.problems[0]?.message;
      throw error;
    }
  }
}
