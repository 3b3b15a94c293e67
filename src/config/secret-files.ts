import { readFile, stat } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";

import { type ConfigProblem, reasonOf } from "./config-error.ts";
import { Secret, type SecretFile } from "./secret.ts";
import type { SettingsReading } from "./read-settings.ts";
import { secretIn } from "./secret-settings.ts";
import type { SettingTable } from "./setting-kinds.ts";

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
    const late = pause(READ_WITHIN_MS, undefined, { signal: over.signal }).catch(() => undefined);
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
    const why = "problem" in found ? found.problem : this.#replace(one, found.value);
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

type Found = { value: string } | { problem: string };

/** What the file holds, once it is not being written; undefined where that is not known at present. */
async function settled({ secret, file }: RotatingSecret): Promise<Found | undefined> {
  let found = await look(file.path);
  for (let reading = 1; reading < MOST_READINGS && found !== undefined; reading++) {
    if ("value" in found && found.value === secret.reveal()) return found;
    await pause(SETTLED_AFTER_MS);
    const again = await look(file.path);
    if (same(found, again)) return again;
    found = again;
  }
  return undefined;
}

function same(one: Found, other: Found | undefined): boolean {
  if (other === undefined) return false;
  if ("value" in one) return "value" in other && one.value === other.value;
  return "problem" in other && one.problem === other.problem;
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
